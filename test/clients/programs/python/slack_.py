import os

from common import FILE, main
from slack_sdk import WebClient

url = os.environ.get("SLACK_API_URL")
slack = WebClient(os.environ["SLACK_BOT_TOKEN"], **({"base_url": f"{url}/"} if url else {}))


def call():
    print(slack.chat_postMessage(channel="C1", text="Hello")["message"]["text"])


def upload():
    print(slack.users_setPhoto(image=FILE)["profile"]["avatar_hash"])


main(call=call, upload=upload)
