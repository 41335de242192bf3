# Our comments as Doxygen reads them, line by line, so that its warnings name the right line.
# The comment below "#pragma once" is about the file.
1s|^#pragma once$|/// @file|
s%^( *///) (Cost|Memory|Source)s?( \([a-z]+\))?: %\1 @\L\2\E \3 %
# One exception for each @throws: what follows a comma is its condition.
\|^ *///|s#@throws ([A-Za-z:]+), ([A-Z][A-Za-z]*Error)#@throws \1 or \2#
\|^ *///|s#@throws ([A-Za-z:]+),#@throws \1 #
# A document that is named is a link, as it leads from the page of a header, api/MODULE/HEADER.
\|^ *///|s#((packages/[a-z]+/)?docs/[a-z0-9/-]+)\.md#[\1.md](../../\1.html)#g
# Verbs and nouns that are also names of classes stay words.
\|^ *///|s#([/.] )(Reads|Writes|Words) #\1%\2 #g
