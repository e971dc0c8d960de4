import os

import stripe
from common import FILE, main

stripe.api_key = os.environ["STRIPE_SECRET_KEY"]
if "STRIPE_URL" in os.environ:
    stripe.api_base = stripe.upload_api_base = os.environ["STRIPE_URL"]
if "SSL_CERT_FILE" in os.environ:
    # It trusts its own bundle only.
    stripe.ca_bundle_path = os.environ["SSL_CERT_FILE"]


def call():
    print(stripe.Charge.create(amount=1999, currency="eur", source="tok_visa").description)


def upload():
    with open(FILE, "rb") as file:
        print(stripe.File.create(purpose="dispute_evidence", file=file).id)


main(call=call, upload=upload)
