import asyncio

import aiohttp
from common import FILE, HEADERS, URL, checked, main


def calling(action):
    async def run():
        async with aiohttp.ClientSession(headers=HEADERS, trust_env=True) as api:
            await action(api)

    return lambda: asyncio.run(run())


async def call(api):
    async with api.get(f"{URL}/things") as answer:
        checked(answer.status, await answer.text())


async def upload(api):
    with open(FILE, "rb") as file:
        async with api.post(f"{URL}/files", data={"file": file}) as answer:
            checked(answer.status, await answer.text())


async def stream(api):
    async with api.get(f"{URL}/events") as answer:
        async for piece in answer.content.iter_any():
            print(piece.decode(), end="", flush=True)


main(call=calling(call), upload=calling(upload), stream=calling(stream))
