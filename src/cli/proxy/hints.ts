/** Hints for programs that ignore the variables of the proxy or of its certificate authority. */
import { basename } from 'node:path'
import { HelperFailed, runHelper } from '../../core/helper_program.ts'

type Env = Record<string, string | undefined>

const RUBY = 'reads only http_proxy in Net::HTTP: put env http_proxy="$HTTPS_PROXY" before it'

const hints: Record<string, string> = {
  wget: 'reads no certificate variable: add --ca-certificate="$SSL_CERT_FILE"',
  rclone: 'fails with AWS_CA_BUNDLE: put env -u AWS_CA_BUNDLE before it',
  ruby: RUBY,
  bundle: RUBY,
  rails: RUBY,
  rake: RUBY,
  sudo: 'removes these variables: add --preserve-env',
}

/** Versions of Node.js that follow HTTPS_PROXY: from these on, and all later ones. */
const FOLLOWING: readonly (readonly [major: number, minor: number])[] = [
  [22, 21],
  [24, 5],
]

export async function hintFor([program = '']: readonly string[], env: Env): Promise<string | null> {
  const name = basename(program)
  if (name === 'node') return hintForNode(program, env)
  return Object.hasOwn(hints, name) ? `${name} ${hints[name]}` : null
}

async function hintForNode(program: string, env: Env): Promise<string | null> {
  const version = await versionOf(program, env)
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)\./.exec(version) ?? []
  if (major === '' || follows(Number(major), Number(minor))) return null
  return `node ${version} ignores the proxy: HTTPS_PROXY needs Node 22.21 or 24.5, or undici (EnvHttpProxyAgent)`
}

function follows(major: number, minor: number): boolean {
  const [last = [0, 0]] = FOLLOWING.slice(-1)
  return major > last[0] || FOLLOWING.some(([of, from]) => of === major && minor >= from)
}

const VERSION_LIMIT_MS = 2_000

/** Empty where the program does not say it: the hint is left out then. */
async function versionOf(program: string, { PATH = '' }: Env): Promise<string> {
  try {
    const options = { limitMs: VERSION_LIMIT_MS, env: { PATH } }
    return (await runHelper([program, '--version'], options)).out.trim()
  } catch (error) {
    if (error instanceof HelperFailed) return ''
    throw error
  }
}
