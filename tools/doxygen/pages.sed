# The first page: links to documents, examples and headers, as they are called in the output.
s|\]\(([a-z0-9/-]+)\.md|](../docs/\1.html|g
s|\]\(\.\./examples/([a-z0-9_]+)\.cpp\)|](\1_8cpp-example.html)|g
s|\]\(\.\./include/(merganser/[a-z0-9_/]+\.h(pp)?)\)|](@ref \1)|g
