/** Why a secret was not connected, by code. */
import type { ConnectCode } from '../../../../../client/connect/provider_fetch.ts'

type Code = `connect_${ConnectCode}` | 'connect_elsewhere' | 'connect_ended' | 'not_connected'

export const connectErrors: Record<Code, { said: string; help: string }> = {
  connect_access_denied: {
    said: 'Access was denied at the provider.',
    help: 'Nothing was stored. Connect again and approve the request.',
  },
  connect_address_refused: {
    said: 'An address of the provider is not a valid https URL.',
    help: 'Nothing was stored. Check the addresses with the provider.',
  },
  connect_answer_refused: {
    said: "The provider's answer has no token.",
    help: 'Nothing was stored. Retry later.',
  },
  connect_cancelled: {
    said: 'The connection was cancelled.',
    help: 'Nothing was stored. Connect again when you are ready.',
  },
  connect_client_missing: {
    said: 'The provider needs a client that you register.',
    help: 'Register a client at the provider and enter its ID.',
  },
  connect_code_missing: {
    said: 'The provider sent no code.',
    help: 'Nothing was stored. Connect again.',
  },
  connect_elsewhere: {
    said: 'This console can’t connect, because a server delivers it.',
    help: 'Run the command in a terminal, or open `cloakroom console`.',
  },
  connect_ended: {
    said: 'This connection has ended.',
    help: 'Connect again.',
  },
  connect_endpoint_missing: {
    said: 'The provider does not offer this way to connect.',
    help: 'Choose the other way, or enter the address of its endpoint.',
  },
  connect_hosts_missing: {
    said: 'The hosts of the API are missing.',
    help: 'Enter at least one host, such as api.example.com.',
  },
  connect_metadata_differs: {
    said: "The provider's metadata is for another address.",
    help: 'Nothing was stored. Check the address with the provider.',
  },
  connect_metadata_missing: {
    said: 'The provider has no metadata at this address.',
    help: 'Check the address, or enter the endpoints.',
  },
  connect_other_flow: {
    said: 'The answer belongs to another connection.',
    help: 'Nothing was stored. Connect again, and open only its own link.',
  },
  connect_pkce_missing: {
    said: 'The provider does not support PKCE with S256.',
    help: 'Nothing was stored. Ask the provider to support it.',
  },
  connect_port_taken: {
    said: 'Another program uses the port of the redirect address.',
    help: 'Stop it, or register and enter another redirect address.',
  },
  connect_provider_missing: {
    said: 'The provider is missing.',
    help: 'Choose a provider, or enter its address.',
  },
  connect_redirect_refused: {
    said: 'The redirect address must be http on 127.0.0.1, with a port.',
    help: 'Example: http://127.0.0.1:8976/callback',
  },
  connect_refresh_token_missing: {
    said: 'The provider issued no refresh token, so access would end soon.',
    help: 'Nothing was stored. Request lasting access, for example with the scope offline_access.',
  },
  connect_registration_missing: {
    said: 'The provider does not register clients automatically.',
    help: 'Register a client at the provider and enter its ID.',
  },
  connect_registration_refused: {
    said: 'The provider refused to register a client.',
    help: 'Register a client at the provider and enter its ID.',
  },
  connect_request_refused: {
    said: 'The provider refused the request.',
    help: "Nothing was stored. Check the scope and the client's settings at the provider.",
  },
  connect_timed_out: {
    said: 'Nobody approved the request in time.',
    help: 'Nothing was stored. Connect again.',
  },
  connect_token_refused: {
    said: 'The provider refused to issue a token.',
    help: 'Nothing was stored. Check client ID, client secret and scope.',
  },
  connect_too_many: {
    said: 'Too many connections are in progress.',
    help: 'Finish or cancel one, then retry.',
  },
  connect_unknown_provider: {
    said: 'This provider is unknown.',
    help: 'Choose another one, or enter its address.',
  },
  connect_unreachable: {
    said: 'The provider is unavailable.',
    help: 'Nothing was stored. Check the address and your connection.',
  },
  not_connected: {
    said: 'This secret was not connected through a provider.',
    help: 'Replace its value instead.',
  },
}
