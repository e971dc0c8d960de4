/** The policy editor. */
import { callCount, secretCount } from './counts.ts'

export const policies = {
  bulkTitle: (count: number, environment: string) =>
    `Policy of ${secretCount(count)} in ${environment}`,
  inWords: (words: string) =>
    words === ''
      ? 'May be used in every call that the allowlist of the workspace permits, in a header, in basic authentication, and as a variable.'
      : `May be used ${words}.`,
  limit: {
    allowed_domains: 'Limit hosts',
    allowed_methods: 'Limit methods',
    allowed_paths: 'Limit paths',
    allowed_headers: 'Limit headers',
    allowed_locations: 'Choose the places',
    sign_templates: 'Limit what is signed',
    allowed_operations: 'Limit operations',
  },
  entries: {
    allowed_domains: 'Hosts, one in a line',
    allowed_methods: 'Methods',
    allowed_paths: 'Beginnings of paths, one in a line',
    allowed_headers: 'Headers, one in a line',
    allowed_locations: 'Where the value may stand',
    sign_templates: 'Templates, one in a line',
    allowed_operations: 'Operations, one in a line',
  },
  help: {
    allowed_domains: 'As on the allowlist: api.stripe.com, or *.example.com.',
    allowed_paths: '/v1 covers itself and what is below it, /v1/ only what is below.',
    allowed_headers: 'Such as Authorization.',
    sign_templates: 'Such as {timestamp}.{body}.',
    allowed_operations: 'Of GraphQL or JSON-RPC: query:viewer, or rpc:tools/call:search.',
  },
  places: {
    header: 'Header',
    basic: 'Basic authentication',
    query: 'Query',
    path: 'Path',
    json: 'JSON body',
    form: 'Form',
    websocket: 'WebSocket message',
    env: 'Variables of programs',
    sign: 'Signatures',
  },
  approval: {
    label: 'Approval of each use',
    by: { none: 'Not needed', member: 'By a member', admin: 'By an owner or admin' },
    seconds: 'One approval lasts at most',
    singly: 'One call',
    advice: 'Tokens may have read the value before. Replace it after you save this.',
    conflict: 'A secret that needs approval cannot be a variable or sign. Uncheck these places.',
  },
  nothing: 'With nothing chosen it cannot be used at all.',
  description: 'What it is for',
  descriptionHelp: 'Agents that may list names read this.',
  bad: (entry: string, why: string) => (entry === '' ? why : `${entry}: ${why}`),
  save: 'Store the policy',
  saved: (count: number) =>
    count === 1 ? 'The policy is stored.' : `The policy of ${secretCount(count)} is stored.`,
  bulkHelp:
    'Takes the place of what limits each of them now. Which are settings, and what each is for, stays.',

  preview: 'The last 7 days',
  noCalls: 'No call used it in the last 7 days: nothing can be tried out.',
  allPass: (calls: number) => `${callCount(calls)}: none would have been blocked.`,
  wouldBlock: (blocked: number, calls: number) =>
    `Of ${callCount(calls)}, ${blocked} would have been blocked:`,
  notWhole: 'There were more calls than are looked at here; the newest count.',
  notJudged: 'Headers, queries, bodies and templates are not recorded, and not judged.',
  kind: (count: number, method: string, url: string) => `${count} × ${method} ${url}`,
  objection: (text: string) => `the policy ${text}`,
}
