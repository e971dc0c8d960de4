/** One line about each argument, by its word in a usage. `--help` and the reference of the command line print it. */
const texts: Readonly<Record<string, string>> = {
  account: 'account name',
  agent: 'agent, by name or ID',
  command: 'command with its arguments',
  domains: 'hosts: api.stripe.com, *.example.com, api.internal:8443',
  email: 'email address',
  emails: 'email addresses',
  environment: 'environment, by name',
  fields: 'policy fields, such as paths',
  from: 'source environment',
  ids: 'session IDs',
  key: 'secret, by name',
  keys: 'secrets, by name',
  label: 'label',
  member: 'member, by email address or ID',
  name: 'name',
  pairs: 'NAME=value, or NAME to enter the value',
  path: 'file',
  project: 'project, by name or ID',
  proposal: 'proposal ID, or at least 4 characters of its start or end',
  record: 'record ID',
  request: 'request ID, or at least 4 characters of its start or end',
  role: 'owner, admin, member or read_only',
  setting: 'server, resolver, workspace, project or environment',
  shell: 'bash, zsh or fish',
  target: 'notice target ID',
  text: 'description',
  to: 'target environment',
  token: 'token, by label or ID',
  topic: 'page of the documentation, or a command',
  tool: 'claude-code, cursor, vscode, codex, gemini or opencode',
  type: 'slack, discord, ntfy or webhook',
  url: 'URL',
  value: 'new value',
  version: 'version number',
  workspace: 'workspace, by name or ID',
}

/** Empty for an argument without a text. */
export function argumentText(argument: string): string {
  return texts[argument.replaceAll(/[<>[\].]/g, '')] ?? ''
}
