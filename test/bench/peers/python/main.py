"""The official Python SDK's low-level server on uvicorn with uvloop and httptools, without authentication."""

import asyncio
import json
import os
import socket

import uvicorn
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings


def read(name):
    with open(os.path.join(os.environ["FIXTURE"], name)) as file:
        return json.load(file)


tools = [types.Tool.model_validate(tool) for tool in read("tools.json")]
results = read("results.json")


async def on_list(context, params):
    return types.ListToolsResult(tools=tools)


async def on_call(context, params):
    answer = results[params.name]
    text = types.TextContent(type="text", text=json.dumps(answer, separators=(",", ":")))
    return types.CallToolResult(content=[text], structured_content=answer)


async def main():
    server = Server("peer", version="1.0.0", on_list_tools=on_list, on_call_tool=on_call)
    # It would refuse a Host header without a port.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        streamable_http_path=os.environ["MCP_PATH"],
        transport_security=security,
    )
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="warning", access_log=False, loop="uvloop", http="httptools")
    print(f"ready {listener.getsockname()[1]}", flush=True)
    await uvicorn.Server(config).serve(sockets=[listener])


asyncio.run(main())
