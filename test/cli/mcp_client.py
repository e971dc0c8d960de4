"""The official client of Python: lists tools, calls them, and says a line of JSON of each; then cancels a call."""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters


def say(**what):
    print(json.dumps(what), flush=True)


async def use(client, tool, arguments):
    result = await client.call_tool(tool, arguments)
    text = [part.text for part in result.content]
    say(tool=tool, is_error=bool(result.is_error), text=text, data=result.structured_content)


async def main(command, url, held):
    server = StdioServerParameters(command=command, args=["mcp"], env=json.loads(sys.argv[4]))
    async with Client(server) as client:
        say(tools=[tool.name for tool in (await client.list_tools()).tools])
        await use(client, "list_credentials", {})
        await use(client, "call_api", {"url": url, "headers": {"X-Key": "SVC_SECRET_STRIPE_KEY"}})
        await use(client, "call_api", {"url": "https://elsewhere.example/"})
        async with anyio.create_task_group() as group:
            group.start_soon(use, client, "call_api", {"url": held})
            await anyio.to_thread.run_sync(sys.stdin.readline)
            group.cancel_scope.cancel()
        await anyio.to_thread.run_sync(sys.stdin.readline)
        await use(client, "check_status", {})


anyio.run(main, *sys.argv[1:4])
