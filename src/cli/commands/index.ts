/** Every command, with the file that declares it. It is loaded when a line has the name of its command. */
import { ALIASES, type Declared, type Group, nameIn, type Spec } from '../command.ts'
import { contents } from './contents.ts'

type Load = () => Promise<{ default: Declared }>

const files: Readonly<Record<string, Load | undefined>> = {
  demo: () => import('./start/demo.ts'),
  serve: () => import('./start/serve.ts'),
  register: () => import('./start/register.ts'),
  login: () => import('./start/login.ts'),
  logout: () => import('./start/logout.ts'),
  recover: () => import('./start/recover.ts'),
  whoami: () => import('./start/whoami.ts'),
  status: () => import('./start/status.ts'),
  init: () => import('./start/init.ts'),
  link: () => import('./start/link.ts'),
  'secrets set': () => import('./secrets/set.ts'),
  'secrets get': () => import('./secrets/get.ts'),
  'secrets list': () => import('./secrets/list.ts'),
  'secrets delete': () => import('./secrets/delete.ts'),
  'secrets undelete': () => import('./secrets/undelete.ts'),
  'secrets copy': () => import('./secrets/copy.ts'),
  'secrets pull': () => import('./secrets/pull.ts'),
  'secrets push': () => import('./secrets/push.ts'),
  'secrets diff': () => import('./secrets/diff.ts'),
  'secrets history': () => import('./secrets/history.ts'),
  'secrets show': () => import('./secrets/show.ts'),
  'secrets reconnect': () => import('./secrets/reconnect.ts'),
  'secrets rollback': () => import('./secrets/rollback.ts'),
  'env list': () => import('./env/list.ts'),
  'env create': () => import('./env/create.ts'),
  'env delete': () => import('./env/delete.ts'),
  'env copy': () => import('./env/copy.ts'),
  'env use': () => import('./env/use.ts'),
  connect: () => import('./secrets/connect.ts'),
  run: () => import('./use/run.ts'),
  inject: () => import('./use/inject.ts'),
  'policy show': () => import('./policy/show.ts'),
  'policy set': () => import('./policy/set.ts'),
  'policy clear': () => import('./policy/clear.ts'),
  'project list': () => import('./project/list.ts'),
  'project create': () => import('./project/create.ts'),
  'project use': () => import('./project/use.ts'),
  'project rename': () => import('./project/rename.ts'),
  'project describe': () => import('./project/describe.ts'),
  'project delete': () => import('./project/delete.ts'),
  'project restore': () => import('./project/restore.ts'),
  'project accept-name': () => import('./project/accept_name.ts'),
  'agent create': () => import('./agent/create.ts'),
  'agent list': () => import('./agent/list.ts'),
  'agent delete': () => import('./agent/delete.ts'),
  'agent accept-name': () => import('./agent/accept_name.ts'),
  'agent setup': () => import('./agent/setup.ts'),
  'token issue': () => import('./token/issue.ts'),
  'token list': () => import('./token/list.ts'),
  'token revoke': () => import('./token/revoke.ts'),
  'token grant': () => import('./token/grant.ts'),
  'token ungrant': () => import('./token/ungrant.ts'),
  'workload-token issue': () => import('./workload_token/issue.ts'),
  'workload-token list': () => import('./workload_token/list.ts'),
  'workload-token revoke': () => import('./workload_token/revoke.ts'),
  'workload-token grant': () => import('./workload_token/grant.ts'),
  'allowlist list': () => import('./allowlist/list.ts'),
  'allowlist add': () => import('./allowlist/add.ts'),
  'allowlist remove': () => import('./allowlist/remove.ts'),
  'allowlist log': () => import('./allowlist/log.ts'),
  'approvals list': () => import('./approvals/list.ts'),
  'approvals show': () => import('./approvals/show.ts'),
  'approvals allow': () => import('./approvals/allow.ts'),
  'approvals deny': () => import('./approvals/deny.ts'),
  'approvals revoke': () => import('./approvals/revoke.ts'),
  'approvals watch': () => import('./approvals/watch.ts'),
  'proposals list': () => import('./proposals/list.ts'),
  'proposals show': () => import('./proposals/show.ts'),
  'proposals accept': () => import('./proposals/accept.ts'),
  'proposals reject': () => import('./proposals/reject.ts'),
  'proposals create': () => import('./proposals/create.ts'),
  call: () => import('./use/call.ts'),
  proxy: () => import('./use/proxy.ts'),
  mcp: () => import('./use/mcp.ts'),
  echo: () => import('./use/echo.ts'),
  'audit list': () => import('./audit/list.ts'),
  'audit show': () => import('./audit/show.ts'),
  'audit summary': () => import('./audit/summary.ts'),
  'audit export': () => import('./audit/export.ts'),
  'audit tail': () => import('./audit/tail.ts'),
  'notify add': () => import('./notify/add.ts'),
  'notify list': () => import('./notify/list.ts'),
  'notify test': () => import('./notify/test.ts'),
  'notify remove': () => import('./notify/remove.ts'),
  'notify log': () => import('./notify/log.ts'),
  'workspace list': () => import('./workspace/list.ts'),
  'workspace create': () => import('./workspace/create.ts'),
  'workspace use': () => import('./workspace/use.ts'),
  'workspace rename': () => import('./workspace/rename.ts'),
  'workspace members': () => import('./workspace/members.ts'),
  'workspace invite': () => import('./workspace/invite.ts'),
  'workspace accept': () => import('./workspace/accept.ts'),
  'workspace decline': () => import('./workspace/decline.ts'),
  'workspace remove': () => import('./workspace/remove.ts'),
  'workspace delete': () => import('./workspace/delete.ts'),
  'workspace role': () => import('./workspace/role.ts'),
  'workspace rekey': () => import('./workspace/rekey.ts'),
  'workspace verify': () => import('./workspace/verify.ts'),
  'workspace fingerprint': () => import('./workspace/fingerprint.ts'),
  'workspace log': () => import('./workspace/log.ts'),
  'workspace accept-key': () => import('./workspace/accept_key.ts'),
  'workspace accept-name': () => import('./workspace/accept_name.ts'),
  'account list': () => import('./account/list.ts'),
  'account use': () => import('./account/use.ts'),
  'account remove': () => import('./account/remove.ts'),
  'account rotate-keys': () => import('./account/rotate_keys.ts'),
  'account delete': () => import('./account/delete.ts'),
  'password change': () => import('./password/change.ts'),
  'recovery new': () => import('./recovery/new.ts'),
  'sessions list': () => import('./sessions/list.ts'),
  'sessions end': () => import('./sessions/end.ts'),
  console: () => import('./machine/console.ts'),
  unlock: () => import('./machine/unlock.ts'),
  lock: () => import('./machine/lock.ts'),
  trust: () => import('./machine/trust.ts'),
  config: () => import('./machine/config.ts'),
  completion: () => import('./machine/completion.ts'),
  version: () => import('./machine/version.ts'),
  help: () => import('./machine/help.ts'),
  settings: () => import('./server/settings.ts'),
  keygen: () => import('./server/keygen.ts'),
  health: () => import('./server/health.ts'),
  doctor: () => import('./server/doctor.ts'),
  'self-check': () => import('./server/self_check.ts'),
  backup: () => import('./server/backup.ts'),
  restore: () => import('./server/restore.ts'),
  move: () => import('./server/move.ts'),
  upgrade: () => import('./server/upgrade.ts'),
  'rekey-outer': () => import('./server/rekey_outer.ts'),
  calculate_metrics: () => import('./server/calculate_metrics.ts'),
}

/** The heading of a command or group, or that of commands without one. */
export function headingOf(name: string): string {
  const [heading = 'Commands'] =
    Object.entries(contents).find(([, entries]) =>
      Object.keys(entries).map(nameIn).includes(name),
    ) ?? []
  return `${heading}:`
}

/** The command with this name, outside of groups. */
export async function loadCommand(name: string): Promise<Declared | null> {
  const load = name.includes(' ') || !Object.hasOwn(files, name) ? undefined : files[name]
  return load ? (await load()).default : null
}

/** All commands and groups. Those not named in the command line only have a usage. */
export function loadCommands(words: readonly string[]): Promise<(Spec | Group)[]> {
  const entries = Object.values(contents).flatMap((listed) => Object.entries(listed))
  return Promise.all(
    entries.map(async ([usage, held]) => {
      if (typeof held === 'string') return specOf(usage, held, words)
      const { about, commands } = held
      const inside = Object.entries(commands).map(([own, text]) => specOf(own, text, words, usage))
      return { name: usage, about, commands: await Promise.all(inside) }
    }),
  )
}

const throwNotLoaded = () => Promise.reject(new Error('this command was not loaded'))

async function specOf(
  usage: string,
  about: string,
  words: readonly string[],
  group?: string,
): Promise<Spec> {
  const name = nameIn(usage)
  const isNamed = words.includes(name) || words.includes(ALIASES[name] ?? name)
  const isMeant = isNamed && (group === undefined || words.includes(group))
  const load = isMeant ? files[group === undefined ? name : `${group} ${name}`] : undefined
  if (!load) return { usage, about, examples: [], options: [], run: throwNotLoaded }
  return { ...(await load()).default, about }
}
