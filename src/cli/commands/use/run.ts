/** `cloakroom run`: an environment for one command, decrypted here and given to that command only. */
import { explainUnsafeVariable } from '../../../client/delivery/unsafe_variables.ts'
import { command, type OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { readInherited } from '../../inherited.ts'
import { allowEmpty, noMine, token } from '../../options.ts'
import { startChild } from '../../terminal/child.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { durationOf } from '../../terminal/moments.ts'
import { endProcess } from '../../terminal/streams.ts'
import type { Delivered, Source } from '../../values/delivered.ts'

const options = [
  token,
  ['--no-mask', 'do not mask values in the output of the command'],
  noMine,
  [
    '--allow-env <secret...>',
    'set this variable although it controls shells, loaders or interpreters',
  ],
  ['--watch', 'restart the command when one of its values changes'],
  ['--watch-interval <time>', 'time between checks for changes (default: 10s)'],
  ['--grace <time>', 'time from SIGTERM to SIGKILL before a restart (default: 10s)'],
  ['--fallback <path>', 'keep a sealed copy of the values, used while the server is unavailable'],
  ['--fallback-max-age <time>', 'maximum age of that copy: 1h, 7d (default: 24h)'],
  allowEmpty,
] as const

type RunOptions = OptionValues<typeof options>

export default command({
  usage: 'run [command...]',
  examples: [
    'run -- npm start',
    'run --env production -- ./deploy.sh',
    'run --no-mask -- env',
    'run --watch -- npm start',
    'run --fallback /var/lib/app/secrets.sealed -- ./server',
    'run --allow-env NODE_OPTIONS -- npm test',
  ],
  options,
  passThrough: true,
  action: async (context, command, options) => {
    if (command.length === 0)
      throw new CliError('usage', 'give a command after --', 'example: cloakroom run -- npm start')
    const times = {
      intervalMs: durationOf(options.watchInterval ?? '10s', INTERVAL),
      graceMs: durationOf(options.grace ?? '10s', GRACE),
    }
    refuseAlone(options)
    const source = await sourceOf(context, options)
    const first = await source.deliver()
    const check = (delivered: Delivered) => {
      refuseUnsafe(Object.keys(delivered), options.allowEnv ?? [])
      refuseZeroBytes(delivered)
    }
    check(first)
    if (Object.keys(first).length === 0) {
      context.output.warn('no secrets for this command: check the environment and the policies')
    }
    const { warn } = context.output
    let isNoted = false
    const noteMasked = () => {
      if (!isNoted)
        warn('[REDACTED] replaces secrets in this output. Pass --no-mask to keep values.')
      isNoted = true
    }
    const start = (delivered: Delivered) =>
      startChild(context.host, command, {
        env: { ...readInherited(context.env), ...textsOf(delivered) },
        masked: options.mask === false ? {} : textsOf(delivered, true),
        onMasked: noteMasked,
        grouped: options.watch === true,
      })
    const watchNames = async () => {
      const { runWatched } = await import('../../running/watch.ts')
      return runWatched({ source, first, check, start, warn, ...times })
    }
    const code = await (options.watch ? watchNames() : start(first).ended)
    // Requests that still wait for a silent server are no longer needed.
    return options.watch || options.fallback !== undefined ? endProcess(context.host, code) : code
  },
})

const MAX_AGE = { option: '--fallback-max-age', example: '24h', least: '1m', most: '30d' }

const INTERVAL = { option: '--watch-interval', example: '30s', least: '1s', most: '1d' }

const GRACE = { option: '--grace', example: '30s', least: '0s', most: '1h' }

/** Each with the option without which it has no effect. */
const DEPENDENT = [
  ['watchInterval', INTERVAL, 'watch'],
  ['grace', GRACE, 'watch'],
  ['fallbackMaxAge', MAX_AGE, 'fallback'],
] as const

/** @throws CliError */
function refuseAlone(options: RunOptions): void {
  for (const [name, { option }, needed] of DEPENDENT) {
    if (options[name] !== undefined && options[needed] === undefined)
      throw new CliError('usage', `${option} has no effect without --${needed}`)
  }
}

/** @throws CliError */
async function sourceOf(context: Context, options: RunOptions): Promise<Source> {
  const { fallback: path, fallbackMaxAge } = options
  const maxAgeMs = durationOf(fallbackMaxAge ?? '24h', MAX_AGE)
  const source = await openSource(context, options)
  if (path === undefined) return source
  const { withFallback } = await import('../../running/fallback.ts')
  return withFallback(source, {
    host: context.host,
    path,
    maxAgeMs,
    mine: options.mine !== false,
    warn: context.output.warn,
    now: () => new Date(),
  })
}

/** Uses a token if set, otherwise the session. @throws CliError without either */
async function openSource(context: Context, options: RunOptions): Promise<Source> {
  const token = options.token ?? context.givenToken()
  if (token) return (await import('../../tokens/token_source.ts')).tokenSource(context, token)
  return (await import('../../values/session_source.ts')).sessionSource(context, options)
}

function textsOf(delivered: Delivered, onlySensitive = false): Record<string, string> {
  return Object.fromEntries(
    Object.entries(delivered).flatMap(([name, { value, isSensitive }]) =>
      onlySensitive && !isSensitive ? [] : [[name, value]],
    ),
  )
}

/** Anyone who can store such a secret could run code on this machine. @throws CliError */
function refuseUnsafe(names: readonly string[], allowed: readonly string[]): void {
  const unsafe = names.flatMap((name) => {
    const reason = allowed.includes(name) ? null : explainUnsafeVariable(name)
    return reason === null ? [] : [{ name, reason }]
  })
  if (unsafe.length === 0) return
  const lines = unsafe.map(({ name, reason }) => `the secret ${name} ${reason}`)
  const flags = unsafe.map(({ name }) => `--allow-env ${name}`)
  throw new CliError(
    'unsafe_variable',
    [...lines, 'nothing was run'],
    `to allow it, add before the command: ${flags.join(' ')}`,
  )
}

/** The runtime would say so too, with the value in its message. @throws CliError */
function refuseZeroBytes(delivered: Delivered): void {
  const found = Object.keys(delivered).filter((name) => delivered[name]?.value.includes('\0'))
  if (found.length === 0) return
  throw new CliError(
    'unsafe_variable',
    `${found.join(', ')}: the value has a zero byte, which variables cannot contain; nothing was run`,
    'to exclude it from environments, omit env from its allowed_locations',
  )
}
