// tier: quick
/** Every endpoint of the API is used by a client, or has its reason listed here. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'

const SOURCE = join(import.meta.dir, '../../src')
const CLIENTS = ['cli', 'client', 'proxy']

const LISTED = 'the lists show every field of it'
const BY_ID = 'the commands take the short form by id, which does the same'
const FORWARDED =
  'for programs that speak HTTP themselves; call sends the same through resolver.resolve'
const CONSOLE = 'for the page of the console; a command keeps its tokens itself'
const PASSKEY = 'a browser asks the authenticator, so the console has it'
const GRANT = 'what ends a grant takes the one that is signed again in the same call'
const METHODS = ['delete', 'get', 'options', 'patch', 'post', 'put']

const REASONS: Record<string, string> = {
  'agents.tokens.grant': GRANT,
  'allowlist.remove_log': 'allowlist remove log reaches it, by the path of any domain',
  'attention.credentials': 'for the overview of the console; secrets show says it of each secret',
  'attention.tokens': 'for the overview of the console; token list shows when tokens expire',
  'audit.calls': 'for a page on which a policy is drafted; audit list --credential shows the calls',
  'audit.usage': 'for the pages that list secrets, agents and hosts; audit summary counts the same',
  'audit.watch': 'for a page that stays open; audit list shows what there is',
  'auth.console.login': CONSOLE,
  'auth.console.passkey_login': CONSOLE,
  'auth.console.refresh': CONSOLE,
  'auth.passkey_login': PASSKEY,
  'auth.passkey_login.begin': PASSKEY,
  'auth.passkeys.add': PASSKEY,
  'auth.passkeys.begin': PASSKEY,
  'auth.passkeys.list': PASSKEY,
  'auth.passkeys.remove': PASSKEY,
  'auth.passkeys.rename': PASSKEY,
  'auth.passkeys.seed': PASSKEY,
  'auth.passkeys.set_seed': PASSKEY,
  'auth.patch_password': 'the same as auth.change_password, for clients that send PATCH',
  'health.get': 'for probes; status asks the one beside it, and health asks on the machine itself',
  'metrics.compute': 'for a scheduler with CRON_SECRET; calculate_metrics does it on the machine',
  'instance.get': 'for the page of the console that begins',
  'instance.report': 'for the page of the owner; settings and status say it on the machine',
  'metrics.list': 'figures for the operator, who has calculate_metrics and /metrics',
  'projects.delete': BY_ID,
  'projects.diff': 'secrets diff compares values too, which only a client can',
  'projects.get': BY_ID,
  'projects.get_short': LISTED,
  'projects.invite': 'roles are of the workspace: workspace invite',
  'projects.invite_by_name': 'roles are of the workspace: workspace invite',
  'projects.update': BY_ID,
  'resolver.approval': 'for programs that ask again by themselves; a call can wait, and says when',
  'resolver.proposal':
    'an equal proposal answers the state: proposals create, and request_access of mcp',
  'workload_tokens.grant': GRANT,
  'workload_tokens.unprovision': 'it has one environment only: workload-token revoke',
  'workspaces.get': LISTED,
  ...Object.fromEntries(
    ['forward', 'forward_unversioned'].flatMap((way) =>
      METHODS.map((method) => [`resolver.${way}.${method}`, FORWARDED]),
    ),
  ),
}

async function filesOf(pattern: string): Promise<string[]> {
  return Array.fromAsync(new Glob(pattern).scan({ cwd: SOURCE }))
}

/** Names under which contracts are exported, by the endpoint's name. */
async function contractNames(): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const file of await filesOf('**/contract.ts')) {
    const exported: object = await import(join(SOURCE, file))
    const contracts = Object.entries(exported).flatMap(([name, contract]) =>
      [contract].flat().map((endpoint) => ({ name, endpoint })),
    )
    for (const { name, endpoint } of contracts)
      if (typeof endpoint?.path === 'string') names.set(endpoint.name, name)
  }
  return names
}

/** A lint rule ensures that every import is used. */
async function importedByClients(): Promise<Set<string>> {
  const imported = new Set<string>()
  for (const client of CLIENTS) {
    for (const file of await filesOf(`${client}/**/*.ts`)) {
      const text = await Bun.file(join(SOURCE, file)).text()
      for (const [, names = ''] of text.matchAll(
        /(?:import|const) \{([^}]*)\} (?:from |= await import\()'[^']*contract\.ts'/g,
      ))
        for (const name of names.split(',')) imported.add(name.trim().replace(/ as .*/, ''))
    }
  }
  return imported
}

test('every endpoint has a command, or a reason why it needs none', async () => {
  const [names, imported] = [await contractNames(), await importedByClients()]
  const endpoints = new Set(
    listAllEndpoints().flatMap((served) => served.endpoints.map(({ name }) => name)),
  )
  const without = [...endpoints].filter((name) => !imported.has(names.get(name) ?? ''))
  expect(without.sort()).toEqual(Object.keys(REASONS).sort())
  for (const reason of Object.values(REASONS)) expect(reason).toMatch(/^\w.{10,}/)
})
