# Our comments as Doxygen reads them, line by line, so that its warnings name the right line.
# The comment below "#pragma once" is about the file.
1s|^#pragma once$|/// @file|
s%^( *///) (Cost|Memory|Source)s?( \([a-z]+\))?: %\1 @\L\2\E \3 %
# A document that is named is a link.
\|^ *///|s#((packages/[a-z]+/)?docs/[a-z0-9/-]+)\.md#[\1.md](../\1.html)#g
# Verbs and nouns that are also names of classes stay words.
\|^ *///|s#([/.] )(Reads|Writes|Words) #\1%\2 #g
