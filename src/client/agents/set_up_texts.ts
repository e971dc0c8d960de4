/**
 * Set-up texts for programs that use a token: shown by the console, and the examples of docs/guides/sdks.md and
 * docs/guides/ci.md. No text holds a token: it is in `SERVICE_TOKEN`, or beside the session.
 */
import { type Program, programFile } from './agent_setup.ts'
import { shellWord } from './shell_word.ts'

export type ProgramAddresses = { server: string; resolver: string }

/** Null means every project, or environment. */
type Holder = { name: string; project: string | null; environment: string | null }

/** For a program on a machine where not signed in; null where it hands no variables on. */
export function fileFor(program: Program, resolver: string): string | null {
  if (program.format === 'toml') return null
  return programFile(program, program.entry(['cloakroom', 'mcp', '--resolver', resolver]))
}

/** For a machine with a session. `complete` may add options to a command. */
export function commandFor(
  id: string,
  { project, environment, ...holder }: Holder,
  complete: (command: string) => string = (command) => command,
): string {
  const name = shellWord(holder.name)
  const at = [project && `-p ${shellWord(project)}`, environment && `-e ${shellWord(environment)}`]
  const issue = [`cloakroom token issue ${name}`, ...at, `--label ${id} --save`]
  return `${complete(issue.filter(Boolean).join(' '))}\ncloakroom agent setup ${id} --agent ${name}\n`
}

export function variables({ server, resolver }: ProgramAddresses): string {
  return [
    'export SERVICE_TOKEN=',
    `export SERVICE_SERVER_URL=${shellWord(server)}`,
    `export SERVICE_RESOLVER_URL=${shellWord(resolver)}`,
    '',
  ].join('\n')
}

/** The token is not an argument, because other processes can read arguments. */
export const curl = `printf 'header = "Authorization: Bearer %s"\\n' "$SERVICE_TOKEN" |
  curl --config - -sS --fail-with-body "$SERVICE_RESOLVER_URL/v1/resolve" \\
    -H 'Content-Type: application/json' \\
    -d '{
      "target_url": "https://api.github.com/user",
      "method": "GET",
      "headers": {"Authorization": "Bearer SVC_SECRET_GITHUB_TOKEN"}
    }'
`

/** Issues the token that an SDK of such a text gets as its API key: of use for its host and secret only. */
export function formatTokenCommand(text: string, agent: string): string {
  const [, host = ''] = /\/v1\/forward\/([\w.-]+)/.exec(text) ?? []
  const [, secret = ''] = /SVC_SECRET_(\w+)/.exec(text) ?? []
  return `cloakroom token issue ${shellWord(agent)} --host ${host} --secret ${secret}\n`
}

type Sdk = { id: string; label: string; text: string }

export const sdks: readonly Sdk[] = [
  {
    id: 'openai',
    label: 'OpenAI, TypeScript',
    text: `import OpenAI from 'openai'
const { SERVICE_RESOLVER_URL, SERVICE_TOKEN } = process.env
const openai = new OpenAI({ baseURL: \`\${SERVICE_RESOLVER_URL}/v1/forward/api.openai.com/v1\`, apiKey: \`\${SERVICE_TOKEN}.SVC_SECRET_OPENAI_KEY\` })
const answer = await openai.chat.completions.create({ model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] })
console.log(answer.choices[0]?.message.content)
`,
  },
  {
    id: 'anthropic',
    label: 'Anthropic, TypeScript',
    text: `import Anthropic from '@anthropic-ai/sdk'
const { SERVICE_RESOLVER_URL, SERVICE_TOKEN } = process.env
const anthropic = new Anthropic({ baseURL: \`\${SERVICE_RESOLVER_URL}/v1/forward/api.anthropic.com\`, apiKey: \`\${SERVICE_TOKEN}.SVC_SECRET_ANTHROPIC_KEY\` })
const answer = anthropic.messages.stream({ model: 'claude-sonnet-5-5', max_tokens: 64, messages: [{ role: 'user', content: 'Hello' }] })
answer.on('text', (text) => console.log(text)) && (await answer.finalMessage())
`,
  },
  {
    id: 'fetch',
    label: 'fetch, TypeScript',
    text: `const { SERVICE_RESOLVER_URL, SERVICE_TOKEN } = process.env
const url = \`\${SERVICE_RESOLVER_URL}/v1/forward/api.github.com/user\`
const headers = { authorization: \`Bearer \${SERVICE_TOKEN}.SVC_SECRET_GITHUB_TOKEN\` }
const answer = await fetch(url, { headers })
console.log((await answer.json()).login)
`,
  },
  {
    id: 'requests',
    label: 'requests, Python',
    text: `import os, requests
url = os.environ["SERVICE_RESOLVER_URL"] + "/v1/forward/api.github.com/user"
key = os.environ["SERVICE_TOKEN"] + ".SVC_SECRET_GITHUB_TOKEN"
answer = requests.get(url, headers={"Authorization": f"Bearer {key}"})
print(answer.json()["login"])
`,
  },
]

const ask = `answer=$(
  printf 'header = "Authorization: Bearer %s"\\n' "$SERVICE_TOKEN" |
    curl --config - --request POST --fail-with-body --silent --show-error \\
      --max-time 30 --retry 5 "$SERVICE_SERVER_URL/api/workloads/env/"
) || { echo "no secrets: $answer" >&2; exit 1; }
`

const mask = `printf '%s' "$answer" |
  jq -r '.secrets[] | select(length >= 8) | split("\\n")[] | select(. != "") |
    gsub("%"; "%25") | gsub("\\r"; "%0D") | "::add-mask::\\(.)"'
printf '%s' "$answer" |
  jq -r --arg mark "$(cat /proc/sys/kernel/random/uuid)" \\
    '.secrets | to_entries[] | "\\(.key)<<\\($mark)\\n\\(.value)\\n\\($mark)"' >>"$GITHUB_ENV"
`

const exported = `exports=$(printf '%s' "$answer" | jq -r '.secrets | to_entries[] | "export \\(.key)=\\(.value | @sh)"')
eval "$exports"
unset answer exports
`

const indentLines = (text: string, by: number) => text.replace(/^(?=.)/gm, ' '.repeat(by))

/** For one command that gets the values of one environment. */
export const runText = 'cloakroom run -- ./deploy.sh\n'

/** Sets the values for later commands, or makes one call if the token cannot read. */
export function githubActions({ server, resolver }: ProgramAddresses, mayRead: boolean): string {
  const [title, address, script] = mayRead
    ? ['Secrets from Cloakroom', `SERVICE_SERVER_URL: ${server}`, ask + mask]
    : ['A call through Cloakroom', `SERVICE_RESOLVER_URL: ${resolver}`, curl]
  return `jobs:
  deploy:
    runs-on: ubuntu-latest
    steps:
      - name: ${title}
        env:
          ${address}
          SERVICE_TOKEN: \${{ secrets.SERVICE_TOKEN }}
        run: |
${indentLines(script, 10)}${mayRead ? '      - run: ./deploy.sh\n' : ''}`
}

/** The token is a masked variable of the project there. */
export function gitlabCi({ server, resolver }: ProgramAddresses, mayRead: boolean): string {
  const address = mayRead ? `SERVICE_SERVER_URL: ${server}` : `SERVICE_RESOLVER_URL: ${resolver}`
  return `deploy:
  image: alpine:3
  variables:
    ${address}
  before_script:
    - apk add --no-cache curl jq
  script:
    - |
${indentLines(mayRead ? ask + exported : curl, 6)}${mayRead ? '    - ./deploy.sh\n' : ''}`
}
