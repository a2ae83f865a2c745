"""Lists and calls tools with the official Python client.

usage: mcp_caller.py MODE BASE_URL SERVER=TOOL ...   (the API key on standard input)
Prints one JSON object: by server, the protocol version, the names listed and the structured result.
"""

import asyncio
import json
import sys

from mcp.client import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


async def main() -> None:
    mode, base_url, *calls = sys.argv[1:]
    key = sys.stdin.read().strip()
    seen = {}
    for call in calls:
        server, tool = call.split("=")
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {key}"})
        transport = streamable_http_client(f"{base_url}/mcp/{server}", http_client=http)
        async with Client(transport, mode=mode) as client:
            listed = await client.list_tools()
            result = await client.call_tool(tool, {})
            seen[server] = {
                "version": client.protocol_version,
                "tools": [found.name for found in listed.tools],
                "is_error": bool(result.is_error),
                "result": result.structured_content,
            }
    print(json.dumps(seen))


asyncio.run(main())
