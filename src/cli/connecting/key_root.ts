/** Roots without a browser: a GitHub App's key, and an AWS key that assumes a role. */
import { domainOf } from '../../client/connect/domain_of.ts'
import type { DerivedKind } from '../../core/policy/policy.ts'
import { endpointOf } from '../../derivation/derivation.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { readNamedFile } from '../files/read.ts'
import { CliError } from '../terminal/cli_error.ts'
import { askSecret, readPasswordFromStdin } from '../terminal/prompts.ts'
import { demandRoot } from './store_root.ts'

export const keyOptions = [
  ['--field <name=value...>', 'a non-secret field of github_app or aws_role'],
  ['--private-key <path>', 'PEM file with the private key of a GitHub App'],
  ['--secret-key-stdin', 'read the AWS secret access key from standard input'],
] as const

type KeyOptions = OptionValues<typeof keyOptions>

/** Fields that are not text. */
const STRUCTURED = ['repositories', 'permissions', 'duration_seconds']

/** @returns the root's JSON, checked @throws CliError */
export async function readKeyRoot(
  context: Context,
  kind: Exclude<DerivedKind, 'oauth2'>,
  name: string,
  options: KeyOptions,
): Promise<{ value: string; domains: string[] }> {
  const fields = Object.fromEntries((options.field ?? []).map(readField))
  const secret =
    kind === 'github_app'
      ? { private_key: readPrivateKey(context, options) }
      : { secret_access_key: await readSecretKey(context, options) }
  const value = JSON.stringify({ ...fields, ...secret })
  const root = demandRoot(kind, name, value)
  return { value, domains: kind === 'github_app' ? [domainOf(endpointOf(root).href)] : [] }
}

function readField(text: string): [name: string, value: unknown] {
  const at = text.indexOf('=')
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1) throw new CliError('usage', '--field is not name=value.')
  if (name === 'private_key' || name === 'secret_access_key') {
    const option = name === 'private_key' ? '--private-key <path>' : '--secret-key-stdin'
    throw new CliError('usage', `${name} is secret, and arguments are visible: use ${option}.`)
  }
  if (!STRUCTURED.includes(name)) return [name, value]
  try {
    return [name, JSON.parse(value)]
  } catch {
    throw new CliError(
      'usage',
      `--field ${name} is not JSON.`,
      `example: --field ${EXAMPLES[name]}`,
    )
  }
}

const EXAMPLES: Readonly<Record<string, string>> = {
  repositories: `'repositories=["website"]'`,
  permissions: `'permissions={"contents":"read"}'`,
  duration_seconds: 'duration_seconds=900',
}

function readPrivateKey({ host }: Context, { privateKey }: KeyOptions): string {
  if (privateKey !== undefined) return readNamedFile(host, privateKey).toString()
  throw new CliError('usage', 'Pass --private-key with the PEM file of the GitHub App.')
}

function readSecretKey({ host }: Context, { secretKeyStdin }: KeyOptions): Promise<string> {
  if (secretKeyStdin) return readPasswordFromStdin(host)
  return askSecret(host, 'AWS secret access key', { hint: 'Pass --secret-key-stdin.' })
}
