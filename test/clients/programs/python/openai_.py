from common import FILE, main
from openai import OpenAI

openai = OpenAI()
question = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hello"}]}


def call():
    print(openai.chat.completions.create(**question).choices[0].message.content)


def upload():
    with open(FILE, "rb") as file:
        print(openai.files.create(file=file, purpose="user_data").id)


def stream():
    for piece in openai.chat.completions.create(**question, stream=True):
        print(piece.choices[0].delta.content, flush=True)


main(call=call, upload=upload, stream=stream)
