/**
 * The addresses that a command may talk to. Whose project file names an address would receive what proves
 * a password, a session or a token: so it counts only after this user said yes for that folder and that
 * address, whoever wrote the file.
 */
import { dirname } from 'node:path'
import { faultOfAddress } from '../client/http/address.ts'
import type { Host } from './host.ts'
import { type AddressName, findProjectFile, type Settings } from './settings.ts'
import { CliError } from './terminal/cli_error.ts'
import { openTrustedFolders, type TrustedFolders } from './trust/trusted_folders.ts'

type Place = {
  host: Host
  settings: Settings
  cwd: string
  env: Record<string, string | undefined>
  /** `--insecure-http`, or the variable that stands for it. */
  insecureHttp: boolean
}

/** The address as set, when it may be talked to; asks where a terminal is there. @throws CliError */
export async function openAddress(place: Place, name: AddressName): Promise<string> {
  const { value = '', origin } = place.settings[name] ?? {}
  demandSafeAddress(value, place.insecureHttp, `the ${name}`)
  const projectFile = origin === 'project file' ? findProjectFile(place.cwd) : null
  if (projectFile === null) return value
  const trusted = openTrustedFolders(place.env)
  if (!trusted.includes(dirname(projectFile), name, value)) {
    await ask(place.host, trusted, projectFile, name, value)
  }
  return value
}

/** @throws CliError for what is no address, or one that would be talked to in clear */
export function demandSafeAddress(address: string, insecureHttp: boolean, what: string): void {
  const fault = faultOfAddress(address, insecureHttp)
  if (fault === 'not an address') {
    throw new CliError(
      'usage',
      `${what} ${shown(address)} is not an address`,
      'example: https://vault.example.com',
    )
  }
  if (fault === 'not encrypted') {
    throw new CliError(
      'insecure_address',
      `${what} ${shown(address)} is reached without encryption: others on the network could read tokens and sessions`,
      'use https, or add --insecure-http (SERVICE_INSECURE_HTTP=1) where the network is yours alone',
    )
  }
}

async function ask(
  host: Host,
  trusted: TrustedFolders,
  projectFile: string,
  name: AddressName,
  address: string,
): Promise<void> {
  const named = `${shown(projectFile)} names the ${name} ${shown(address)}`
  const refused = new CliError(
    'untrusted_address',
    `${named}, which you have not trusted for this folder; nothing was sent`,
    `look at the address, then: cloakroom trust (or name another with --${name})`,
  )
  if (!host.streams.stdin.isTTY) throw refused
  const { askConfirmation } = await import('./terminal/prompts.ts')
  if (!(await askConfirmation(host, `${named}. Send your credentials there?`))) throw refused
  trusted.add(dirname(projectFile), { [name]: address })
}

/** Control characters would drive the terminal: a repository may bring them along. */
function shown(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}
