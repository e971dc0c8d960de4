import os

from common import FILE, main
from notion_client import Client

url = os.environ.get("NOTION_URL")
notion = Client(auth=os.environ["NOTION_TOKEN"], **({"base_url": url} if url else {}))


def call():
    print(notion.users.me()["name"])


def upload():
    with open(FILE, "rb") as file:
        print(notion.file_uploads.send("1", file=("file.bin", file.read()))["id"])


main(call=call, upload=upload)
