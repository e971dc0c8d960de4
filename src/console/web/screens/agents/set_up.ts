/** What is put where so that a program uses a token. None of it holds the token: that is in a variable. */
import { fileOf, type Program, programs } from '../../../../client/agents/agent_setup.ts'

export type Addresses = { server: string; resolver: string; isUnknown: boolean }

/** Null stands for every project, or environment. */
type Holder = { name: string; project: string | null; environment: string | null }

/** For a program on a machine of nobody's session; null where it hands no variables on. */
export function fileFor(program: Program, resolver: string): string | null {
  if (program.format === 'toml') return null
  return fileOf(program, program.entry(['cloakroom', 'mcp', '--resolver', resolver]))
}

export const mcpPrograms: readonly [id: string, program: Program][] = Object.entries(programs)

/** A word of a shell, whatever somebody called an agent. */
function quoted(text: string): string {
  return /^[\w.@%+:,/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

export function commandFor(id: string, { project, environment, ...holder }: Holder): string {
  const name = quoted(holder.name)
  const at = [project && `-p ${quoted(project)}`, environment && `-e ${quoted(environment)}`]
  const issue = [`cloakroom token issue ${name}`, ...at, `--label ${id} --save`]
  return `${issue.filter(Boolean).join(' ')}\ncloakroom agent setup ${id} --agent ${name}`
}

export function variables({ server, resolver }: Addresses): string {
  return [
    'export SERVICE_TOKEN=',
    `export SERVICE_SERVER_URL=${quoted(server)}`,
    `export SERVICE_RESOLVER_URL=${quoted(resolver)}`,
  ].join('\n')
}

export const curl = `curl -sS "$SERVICE_RESOLVER_URL/v1/resolve" \\
  -H "Authorization: Bearer $SERVICE_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{
    "target_url": "https://api.example.com/v1/me",
    "method": "GET",
    "headers": {"Authorization": "Bearer SVC_SECRET_MY_KEY"}
  }'
`

export const sdk = `import os
from openai import OpenAI

client = OpenAI(
    base_url=os.environ["SERVICE_RESOLVER_URL"] + "/v1/forward/api.openai.com/v1",
    api_key=os.environ["SERVICE_TOKEN"] + ".SVC_SECRET_OPENAI_KEY",
)
`

/** With the values in the environment of one command, or with calls through the resolver alone. */
export function ci({ server, resolver }: Addresses, mayRead: boolean): string {
  const address = mayRead ? `SERVICE_SERVER_URL: ${server}` : `SERVICE_RESOLVER_URL: ${resolver}`
  const run = mayRead
    ? 'cloakroom run -- npm test'
    : "cloakroom call https://api.example.com/v1/me -H 'Authorization: Bearer SVC_SECRET_MY_KEY'"
  return `steps:
  - env:
      SERVICE_TOKEN: \${{ secrets.CLOAKROOM_TOKEN }}
      ${address}
    run: ${run}
`
}
