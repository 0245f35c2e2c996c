def order(nodes, edges):
    seen, path, count = {}, [], {}
    for node in nodes:
        seen[node] = True
        path.append(node)
    for edge in edges:
        edge["seen"] = edge["name"] in seen
        path.append(edge)
    stack = []
    for node in nodes:
        count[node] = len(stack)
        stack.append(count)
    return path, stack
