import os

from common import FILE, main

try:
    from mistralai.client import Mistral
except ImportError:
    from mistralai import Mistral

mistral = Mistral(api_key=os.environ["MISTRAL_API_KEY"], server_url=os.environ.get("MISTRAL_URL"))
question = {"model": "mistral-large-latest", "messages": [{"role": "user", "content": "Hello"}]}


def call():
    print(mistral.chat.complete(**question).choices[0].message.content)


def upload():
    with open(FILE, "rb") as file:
        print(mistral.files.upload(file={"file_name": "file.bin", "content": file}).id)


def stream():
    for event in mistral.chat.stream(**question):
        print(event.data.choices[0].delta.content, flush=True)


main(call=call, upload=upload, stream=stream)
