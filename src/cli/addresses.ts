/**
 * The addresses that a command may connect to. An address in a project file would receive password proofs, sessions and
 * tokens, so this user must first trust that address for that folder.
 */
import { dirname } from 'node:path'
import { faultOfAddress } from '../client/http/address.ts'
import type { Host } from './host.ts'
import { type AddressName, addressNames, findProjectFile, type Settings } from './settings.ts'
import { CliError } from './terminal/cli_error.ts'
import { openTrustedFolders, type TrustedFolders } from './trust/trusted_folders.ts'

type Place = {
  host: Host
  settings: Settings
  cwd: string
  env: Record<string, string | undefined>
  /** `--insecure-http`, or its variable. */
  insecureHttp: boolean
}

/**
 * Opens the addresses of one command. On a terminal the user is asked once, about every address that the project
 * file names; the answer is for all of them.
 *
 * @returns the address as set, where credentials may be sent to it @throws CliError
 */
export function openAddresses(place: Place): (name: AddressName) => Promise<string> {
  let answer: Promise<void> | undefined
  return async (name) => {
    const { value = '', origin } = place.settings[name] ?? {}
    demandSafeAddress(value, place.insecureHttp, `the ${name}`)
    const projectFile = origin === 'project file' ? findProjectFile(place.cwd) : null
    if (projectFile === null) return value
    const trusted = openTrustedFolders(place.env)
    if (!trusted.includes(dirname(projectFile), name, value)) {
      if (!place.host.streams.stdin.isTTY) throw refusal(projectFile, [[name, value]])
      answer ??= ask(place, trusted, projectFile)
      await answer
    }
    return value
  }
}

/** @throws CliError for an invalid or unencrypted address */
export function demandSafeAddress(address: string, insecureHttp: boolean, what: string): void {
  const fault = faultOfAddress(address, insecureHttp)
  if (fault === 'not an address') {
    throw new CliError(
      'usage',
      `${what} ${escapeControls(address)} is not an address`,
      'example: https://vault.example.com',
    )
  }
  if (fault === 'not encrypted') {
    throw new CliError(
      'insecure_address',
      `${what} ${escapeControls(address)} is not encrypted: others on the network could read tokens and sessions`,
      'use https, or add --insecure-http (SERVICE_INSECURE_HTTP=1) on a private network',
    )
  }
}

async function ask(
  { host, settings }: Place,
  trusted: TrustedFolders,
  projectFile: string,
): Promise<void> {
  const folder = dirname(projectFile)
  const addresses = addressNames.flatMap((name) => {
    const { value = '', origin } = settings[name] ?? {}
    const isNew = origin === 'project file' && !trusted.includes(folder, name, value)
    return isNew ? [[name, value] as const] : []
  })
  const { askConfirmation } = await import('./terminal/prompts.ts')
  const question = `${sentence(projectFile, addresses)}. Send your credentials there?`
  if (!(await askConfirmation(host, question))) throw refusal(projectFile, addresses)
  trusted.add(folder, Object.fromEntries(addresses))
}

type Named = readonly (readonly [name: AddressName, address: string])[]

function refusal(projectFile: string, addresses: Named): CliError {
  const flags = addresses.map(([name]) => `--${name}`).join(' and ')
  return new CliError(
    'untrusted_address',
    `${sentence(projectFile, addresses)}. You have not trusted it for this folder; nothing was sent`,
    `check the address, then run: cloakroom trust (or use another with ${flags})`,
  )
}

function sentence(projectFile: string, addresses: Named): string {
  const listed = addresses.map(([name, address]) => `the ${name} ${escapeControls(address)}`)
  return `${escapeControls(projectFile)} names ${listed.join(' and ')}`
}

/** Control characters would drive the terminal: a repository may bring them along. */
function escapeControls(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}
