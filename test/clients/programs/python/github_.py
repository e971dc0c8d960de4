import os

from common import FILE, main
from github import Auth, Github

url = os.environ.get("GITHUB_API_URL")
auth = Auth.Token(os.environ["GITHUB_TOKEN"])
github = Github(auth=auth, retry=None, **({"base_url": url} if url else {}))


def call():
    print(github.get_repo("acme/things").description)


def upload():
    with open(FILE, "rb") as file:
        made = github.get_repo("acme/things", lazy=True).create_file("file.bin", "A file", file.read())
    print(made["content"].sha)


main(call=call, upload=upload)
