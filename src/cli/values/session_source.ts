/** An environment for a program, read by the session and opened here. */
import { readSecrets, type SecretsReading } from '../../client/environment.ts'
import { toBase64 } from '../../core/crypto/encoding.ts'
import { isDeliverable, isHeld, isRoot } from '../../core/policy/policy.ts'
import type { Entry } from '../../core/policy/references.ts'
import type { Context } from '../context.ts'
import { environmentOf, type ProjectScope, projectScope } from '../scope.ts'
import { noteWithheld, type Opened, resolveEntries, type Source, warnOnce } from './delivered.ts'
import { openListedSecrets } from './sealing.ts'

type Options = { allowEmpty: boolean | undefined; mine: boolean | undefined }

/** @throws CliError without a session */
export async function sessionSource(context: Context, options: Options): Promise<Source> {
  const session = await context.session()
  // Read once. The workspace's key is read each time, because it may change.
  const open = (reading: SecretsReading) =>
    projectScope({ ...context, session: async () => session }, reading)
  const { settings, output } = context
  const [warn, note] = [warnOnce(output.warn), warnOnce(output.note)]
  return {
    deliver: async () => {
      const scope = await open({ include: 'value' })
      const opened = await openForMember({ output: { ...output, warn } }, scope, options)
      if (opened === null) {
        const { refuseEmpty } = await import('../suggestions.ts')
        await refuseEmpty(scope, options)
        return {}
      }
      noteWithheld(note, opened)
      return resolveEntries(opened)
    },
    version: async () => {
      const scope = await open({})
      const stored = await readSecrets(environmentOf(scope))
      const own = options.mine === false ? [] : [...session.own.of(scope)]
      return JSON.stringify([stored.map(({ id, version }) => [id, version]), own])
    },
    holder: { id: toBase64(session.publicKey), secret: session.privateKey },
    asked: {
      server: session.server,
      workspace: settings.workspace?.value ?? '',
      project: settings.project?.value ?? '',
      environment: context.setting('environment'),
    },
  }
}

/**
 * Omits secrets whose policy does not list `env`, like delivery by token. `null` for an environment without secrets.
 * The person's own values override the shared ones.
 */
export async function openForMember(
  { output }: Pick<Context, 'output'>,
  scope: ProjectScope,
  { mine }: { mine: boolean | undefined },
): Promise<Opened | null> {
  const { session } = scope
  const stored = await readSecrets(environmentOf(scope), { include: 'value' })
  const kept = stored.filter(({ policy }) => !isDeliverable(policy)).map(({ key }) => key)
  const roots = stored.filter(({ policy }) => isRoot(policy)).map(({ key }) => key)
  const held = stored.filter(({ policy }) => isHeld(policy)).map(({ key }) => key)
  const own = mine === false ? new Map<string, Entry>() : session.own.of(scope)
  for (const name of kept) own.delete(name)
  if (stored.length === 0 && own.size === 0) return null
  const meant = stored.filter(({ key }) => !own.has(key))
  const opened = openListedSecrets(scope, meant)
  // Decrypting them proves their policies: a server cannot withhold a value with a forged policy.
  for (const name of kept) opened.delete(name)
  noteOwnValues(output, scope, [...own.keys()])
  return {
    entries: new Map([...opened, ...own]),
    own: new Set(own.keys()),
    withheld: kept.filter((name) => !roots.includes(name) && !held.includes(name)),
    held,
    roots,
  }
}

/** A note, so that people do not search for the cause in shared values. */
export function noteOwnValues(
  output: Context['output'],
  { project, environment }: ProjectScope,
  names: readonly string[],
): void {
  if (names.length === 0) return
  const which = `${project.name}/${environment}: ${[...names].sort().join(', ')}`
  output.warn(`your own values are used in ${which} (omit them with --no-mine)`)
}
