/**
 * `status`: server, resolver, account and project, each checked separately. A part that fails shows its error
 * code in its place and hides no other part.
 */
import { isLoopback } from '../../../client/http/address.ts'
import { openApi } from '../../../client/http/api.ts'
import { getResolverHealth, getStatus } from '../../../features/health/contract.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { token } from '../../options.ts'
import { demandProjectFile } from '../../project_file.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { explain, sentences } from '../../terminal/explain.ts'
import type { Row } from '../../terminal/table.ts'
import { describeToken, tokenInstead } from '../../tokens/token_work.ts'
import { readUnlockedUntil } from '../../unlocked/index.ts'
import { runAtAddress } from '../../wrong_address.ts'

const options = [token] as const

/**
 * Opens no session, so it asks for no passphrase.
 *
 * @throws the first part's error, after all parts are printed: its exit code reports the partial failure
 */
export default command({
  usage: 'status',
  examples: ['status', 'status --json'],
  options,
  action: async (context, _, options) => {
    const { settings, output } = context
    const failures: Failure[] = []
    const attempt = async (
      part: string,
      field: string,
      gather: () => Promise<Row>,
    ): Promise<Row> => {
      try {
        return await gather()
      } catch (error) {
        failures.push({ part, error })
        return { [field]: explain(error).code }
      }
    }
    const fields: Row = {
      server: settings.server?.value,
      ...(await attempt('server', 'health', () => describeServer(context))),
      resolver: settings.resolver?.value,
      ...(await attempt('resolver', 'resolver_health', () => describeResolver(context))),
      ...(await attempt('account', 'logged_in', () => describeAccount(context, options))),
      unlocked_until: await readUnlockedTime(context),
      workspace: settings.workspace?.value,
      project: settings.project?.value,
      ...(await attempt('project', 'project', async () => demandUsableFile(context))),
      environment: settings.environment?.value,
    }
    const known = Object.entries(fields).filter(([, value]) => value !== undefined)
    output.record(
      failures.length === 0
        ? Object.fromEntries(known)
        : {
            ...Object.fromEntries(known),
            ...(output.isJson ? { failures: failures.map(describeFailure) } : {}),
          },
    )
    return throwFirst(context, failures)
  },
})

type Failure = { part: string; error: unknown }

/** Programs read the others in `failures`. */
function throwFirst({ output }: Context, [first, ...others]: readonly Failure[]): undefined {
  if (first === undefined) return undefined
  const alike = new Set([explain(first.error).message])
  for (const { error } of others) {
    const explanation = explain(error)
    if (alike.has(explanation.message) || output.isJson) continue
    alike.add(explanation.message)
    output.warn(...sentences(explanation))
  }
  throw first.error
}

function describeFailure({ part, error }: Failure) {
  const { code, message, hint } = explain(error)
  return { part, code, message, hint }
}

async function describeServer(context: Context): Promise<Row> {
  const server = await context.server()
  const answering = openApi(server).call(getStatus, {})
  const { status: health, version } = await runAtAddress('server', server, answering)
  return { health, version }
}

/** The default resolver is on this machine. With a remote server, it may not be in use. */
async function describeResolver(context: Context): Promise<Row> {
  const { server, resolver } = context.settings
  const hostname = URL.parse(server?.value ?? '')?.hostname ?? ''
  if (resolver?.origin === 'default' && !isLoopback(hostname))
    return { resolver: undefined, resolver_health: 'not checked: no resolver configured' }
  const address = await context.resolver()
  const answering = openApi(address).call(getResolverHealth, {})
  const { status: health } = await runAtAddress('resolver', address, answering)
  return { resolver_health: health }
}

async function describeAccount(
  context: Context,
  options: { token: string | undefined },
): Promise<Row> {
  const token = tokenInstead(context, options)
  if (token !== undefined) return describeToken(context, token)
  const { accounts, settings } = context
  const choice = await accounts.chosen(settings.server?.value ?? '').catch(asNobody)
  if (choice === null) return { logged_in: 'nobody' }
  const { account, why } = choice
  const { location } = await accounts.store(account.slot)
  return { logged_in: account.email, account: account.name, because: why, session_in: location }
}

/** A broken project file hides which project is meant. @throws CliError */
function demandUsableFile({ settings, cwd }: Context): Row {
  demandProjectFile({ settings, cwd }, 'project')
  return {}
}

async function readUnlockedTime({ env }: Context): Promise<string | undefined> {
  const until = await readUnlockedUntil(env).catch(explainError)
  return until instanceof Date ? until.toISOString() : (until ?? undefined)
}

/** A foreign socket in that place is no reason to print nothing else. */
function explainError(error: unknown): string {
  return error instanceof CliError ? error.message : 'unknown'
}

function asNobody(error: unknown): null {
  if (error instanceof CliError && error.code === 'not_logged_in') return null
  throw error
}
