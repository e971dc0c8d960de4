/**
 * Schemathesis's findings about the product's answers, and the reasons for keeping them. A finding that is not listed
 * fails, and so does a reason without a finding.
 */
import type { Finding } from './schemathesis.ts'

export type Reason = Pick<Finding, 'code' | 'status'> & {
  /** The sentence of the answer. */
  said: RegExp
  because: string
}

/** The server rejects data that fits the schema, because JSON Schema cannot express the rule. */
function refused(said: RegExp, because: string, status = 422): Reason {
  return { code: 'ST202', status, said, because }
}

export const ofControlPlane: Reason[] = [
  refused(/cursor: is not a cursor of this list/, 'a cursor is text that the server made'),
  refused(/is (given|named) twice|names an? \w+ twice/, 'entries are compared by one field'),
  refused(/current_password: is wrong/, 'it is compared with what is stored'),
  refused(/is not a response to a challenge/, 'it is compared with what this server signed'),
  refused(/is not an accepted passkey origin/, 'it is compared with the configuration'),
  refused(/key_proof: must be a signature/, 'it is verified over other fields'),
  refused(
    /email: must be a valid email|members\.0: must be/,
    '`format: email` takes a@b and "a b"@c',
  ),
  refused(/must not contain control characters/, 'the pattern would hide what the field is'),
  refused(
    /must be a host name|must be a host such as \*\.example\.com:8443/,
    'public suffixes are a list',
  ),
  refused(/must be an? (token envelope|envelope of version 1)/, 'its first byte is inside base64'),
  refused(
    /capabilities: (must be|narrowed and limited tokens can only use)/,
    'one list in one order, which generated clients show as a list, and which depends on other fields',
  ),
  refused(/must begin with \/ and have no query/, 'as of text: the pattern would hide what it is'),
  refused(/must be a refresh token/, 'its checksum is in it'),
  refused(
    /target_domain: is required unless target_url is given/,
    'one of two fields, for clients of two forms',
  ),
  refused(
    /workspace is not signed|id: is not a field of this request|UUID of version 8/,
    'the data are of a plain workspace, which takes nothing signed',
  ),
  refused(/(label|environment): is required/, 'in a signed workspace the grant says it'),
  refused(/members: is required/, 'of several forms the message is about one'),
  {
    code: 'ST201',
    status: 413,
    said: /The request body may have at most \d+ bytes/,
    because: 'a list that is too long is a body that is too large before it is counted',
  },
  refused(/invites: must be empty with a link/, 'it depends on another field'),
  refused(/cannot be combined with (kind|approval)/, 'it depends on another field'),
  refused(/approval: needs a signed workspace/, 'the data are of a plain workspace'),
  refused(/must be an operation such as/, 'it has several forms, and the pattern would hide them'),
  refused(/url: does not begin with https/, 'what a URL is needs a parser'),
]

export const ofResolver: Reason[] = [
  refused(/No secret \w+ is available/, 'which names there are is known when it is called'),
  refused(/target_url has no host|target_url has white space/, 'what a URL is needs a parser', 400),
  refused(/body: (is not possible|must be canonical)/, 'it depends on another field'),
  refused(/sign: must be a signature as JSON/, 'JSON inside of a header'),
  refused(/\d\.key: exists already/, 'which names there are is known when it is proposed'),
  refused(/hosts\.\d+: must be a host name/, 'public suffixes are a list'),
  refused(/and secrets must not both be empty/, 'one of two fields'),
  refused(/reason: must not contain control characters/, 'as of text above'),
  refused(/mark: must be/, 'Schemathesis 4.32.5 sends one character in spite of the pattern'),
]
