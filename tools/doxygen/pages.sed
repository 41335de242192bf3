# The first page: links to documents, examples and headers, as they are called in the output.
s#\]\(\.\./(packages/([a-z]+/)?)README\.md#](../\1index.html#g
s#\]\(\.\./(packages/[a-z0-9/-]+)\.md#](../\1.html#g
s|\]\(([a-z0-9/-]+)\.md|](../docs/\1.html|g
s#\]\(\.\./(packages/[a-z]+/)?examples/([a-z0-9_]+)\.cpp\)#](\2_8cpp-example.html)#g
s#\]\(\.\./(packages/[a-z]+/)?include/(merganser/[a-z0-9_/]+\.h(pp)?)\)#](@ref \2)#g
