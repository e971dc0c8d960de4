import os

from common import main
from twilio.http.http_client import TwilioHttpClient
from twilio.rest import Client

URL = os.environ.get("TWILIO_URL")


class Led(TwilioHttpClient):
    """It has a host but no base path, so its requests are led elsewhere."""

    def request(self, method, url, *args, **options):
        led = url.replace("https://api.twilio.com", URL) if URL else url
        return super().request(method, led, *args, **options)


twilio = Client("AC00000000000000000000000000000000", os.environ["TWILIO_AUTH_TOKEN"], http_client=Led())


def call():
    print(twilio.messages.create(to="+15550001", from_="+15550002", body="Hello").body)


main(call=call)
