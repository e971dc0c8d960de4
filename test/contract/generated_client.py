"""A client that openapi-python-client made from the document, used for some calls; says a line of JSON of each."""

import json
import sys

directory, control_plane, resolver, session, token, upstream = sys.argv[1:]
sys.path.insert(0, directory)

from made import AuthenticatedClient  # noqa: E402
from made.api.projects import projects_list  # noqa: E402
from made.api.resolver import resolver_credentials, resolver_forward_get, resolver_resolve  # noqa: E402
from made.models import OutboundCall, OutboundCallHeaders  # noqa: E402

person = AuthenticatedClient(base_url=control_plane, token=session)
agent = AuthenticatedClient(base_url=resolver, token=token)


def say(what):
    print(json.dumps(what), flush=True)


say([project.name for project in projects_list.sync(client=person).data])
say(sorted(credential.name for credential in resolver_credentials.sync(client=agent)))
headers = OutboundCallHeaders()
headers["X-Key"] = "SVC_SECRET_STRIPE_API_KEY"
call = OutboundCall(target_url=f"https://{upstream}/echo", headers=headers)
say(resolver_resolve.sync(client=agent, body=call).status_code)
call.target_url = "https://elsewhere.example/"
say(resolver_resolve.sync(client=agent, body=call).error_code)
say(resolver_forward_get.sync_detailed(client=agent, host=upstream, path="echo").status_code)
