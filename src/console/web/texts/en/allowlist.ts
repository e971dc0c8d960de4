/** The allowlist: where agents may send credentials. */
export const allowlist = {
  title: 'Allowlist',
  intro: 'Agents reach these hosts and no others, whatever they are told.',
  signed:
    'Each entry was signed by who allowed it, and is read from the chain: the server cannot add one.',
  plain: 'This workspace is not signed: the server says who allowed what.',
  domain: 'Host',
  domainHelp: 'api.example.com, *.example.com for one label before it, or api.example.com:8443',
  add: 'Allow',
  added: (domain: string) => `${domain} is allowed.`,
  present: (domain: string) => `${domain} was allowed already.`,
  none: 'No host is allowed yet, so every call of an agent is refused.',
  noneCommand: 'cloakroom allowlist add api.example.com',
  list: 'Hosts that are allowed',
  by: (by: string, date: string) => `allowed by ${by} on ${date}`,
  somebody: 'somebody',
  link: (seq: number) => `link ${seq}`,
  unsigned:
    'The server lists these, and nobody signed them. No call goes there, and here they count for nothing. Who looks after the server should hear of it.',
  leftOut:
    'The server leaves these out of its list. They were signed, so agents reach them until somebody removes them.',
  remove: 'Remove',
  removeNamed: (domain: string) => `Remove ${domain}?`,
  looking: 'Looking for what used it lately',
  unused: 'Nothing called it in the last 7 days.',
  unknownUse:
    'Too many calls went to other ports of this host to search them all. Look in the audit log.',
  used: (calls: number, isWhole: boolean) => {
    const counted = calls === 1 ? '1 call' : `${calls} calls`
    return `${isWhole ? counted : `At least ${counted}`} went there in the last 7 days:`
  },
  agents: (names: string) => `by ${names}`,
  secrets: (names: string) => `with ${names}`,
  breaks: 'From now on such calls are refused.',
  removed: (domain: string) => `${domain} is not allowed any more.`,
  onlyAdmins: 'Owners and admins of the workspace change it.',
}
