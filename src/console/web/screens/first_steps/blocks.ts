/** One block to paste at a terminal: it takes the token without showing it, and makes the first call. */
import { programs } from '../../../../client/agents/agent_setup.ts'
import { fileFor, type ProgramAddresses } from '../../../../client/agents/set_up_texts.ts'
import { shellWord } from '../../../../client/agents/shell_word.ts'
import { placeholderOf } from '../../../../core/names/secret_name.ts'
import { texts } from '../../texts/index.ts'
import { providerOfName } from './providers.ts'

export const starters = ['claude-code', 'cursor', 'curl', 'sdk'] as const
export type Starter = (typeof starters)[number]

/** The names of the agents that are registered for each. */
export const agentNames: Record<Starter, string> = {
  'claude-code': 'claude-code',
  cursor: 'cursor',
  curl: 'terminal',
  sdk: 'my-app',
}

export type FirstCall = { addresses: ProgramAddresses; secret: string; url: string }

/** Waits for the token. No argument has it, because other processes can read arguments. */
const READ = 'read -rs SERVICE_TOKEN && export SERVICE_TOKEN'

export function terminalBlock(starter: Starter, call: FirstCall): string {
  return { 'claude-code': claudeCode, cursor, curl, sdk }[starter](call)
}

const formatExports = ({ server, resolver }: ProgramAddresses) =>
  `${READ} SERVICE_SERVER_URL=${shellWord(server)} SERVICE_RESOLVER_URL=${shellWord(resolver)} &&`

function prompt({ secret, url }: FirstCall): string {
  return shellWord(texts.firstSteps.prompt(url, secret))
}

function claudeCode(call: FirstCall): string {
  const { resolver } = call.addresses
  return [
    formatExports(call.addresses),
    `claude mcp add cloakroom -- cloakroom mcp --resolver ${shellWord(resolver)} &&`,
    `claude ${prompt(call)}`,
  ].join('\n')
}

/** Fails if the file is there, so that nothing is overwritten. */
function cursor(call: FirstCall): string {
  const [file = ''] = programs.cursor.project
  return [
    formatExports(call.addresses),
    `mkdir -p .cursor && (set -C; cat >${file}) <<'END' && cursor-agent ${prompt(call)}`,
    `${(fileFor(programs.cursor, call.addresses.resolver) ?? '').trimEnd()}`,
    'END',
  ].join('\n')
}

function curl({ addresses: { resolver }, secret, url }: FirstCall): string {
  const { header = 'Authorization', scheme = 'Bearer ' } = providerOfName(secret) ?? {}
  const call = { target_url: url, headers: { [header]: `${scheme}${placeholderOf(secret)}` } }
  return [
    'read -rs SERVICE_TOKEN &&',
    `printf 'header = "Authorization: Bearer %s"\\n' "$SERVICE_TOKEN" |`,
    `  curl --config - -sS ${quoteText(`${resolver}/v1/resolve`)} \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d ${quoteText(JSON.stringify(call))}`,
  ].join('\n')
}

function sdk({ addresses, secret, url }: FirstCall): string {
  const { header = 'authorization', scheme = 'Bearer ' } = providerOfName(secret) ?? {}
  const target = url.replace(/^https:\/\//, '')
  const script = `const { env: { SERVICE_RESOLVER_URL, SERVICE_TOKEN } } = process
const headers = { ${JSON.stringify(header)}: \`${scheme}\${SERVICE_TOKEN}.${placeholderOf(secret)}\` }
const response = await fetch(\`\${SERVICE_RESOLVER_URL}/v1/forward/${target}\`, { headers })
console.log(response.status, await response.text())`
  return [formatExports(addresses), `node --input-type=module -e ${quoteText(script)}`].join('\n')
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
