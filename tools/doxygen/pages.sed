# The first page: links to other documents, and to examples, as they are called in the output.
s|\]\(([a-z0-9/-]+)\.md|](../docs/\1.html|g
s|\]\(\.\./examples/([a-z_]+)\.cpp\)|](\1_8cpp-example.html)|g
