import base64
import os

from common import FILE, main
from sendgrid import SendGridAPIClient

sendgrid = SendGridAPIClient(os.environ["SENDGRID_API_KEY"], os.environ.get("SENDGRID_URL", "https://api.sendgrid.com"))


def call():
    print(sendgrid.client.user.profile.get().body.decode())


def upload():
    with open(FILE, "rb") as file:
        content = base64.b64encode(file.read()).decode()
    body = {"attachments": [{"content": content, "filename": "file.bin"}]}
    print(sendgrid.client.mail.send.post(request_body=body).body.decode())


main(call=call, upload=upload)
