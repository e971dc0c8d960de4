from common import FILE, main
from groq import Groq

groq = Groq()
question = {"model": "llama", "messages": [{"role": "user", "content": "Hello"}]}


def call():
    print(groq.chat.completions.create(**question).choices[0].message.content)


def upload():
    with open(FILE, "rb") as file:
        print(groq.files.create(file=file, purpose="batch").id)


def stream():
    for piece in groq.chat.completions.create(**question, stream=True):
        print(piece.choices[0].delta.content, flush=True)


main(call=call, upload=upload, stream=stream)
