// tier: quick
/** Case 90: `--fingerprint` is compared with the keys of the person that it is given for. */
import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { CliError } from '../../src/cli/terminal/cli_error.ts'
import { compareFingerprints } from '../../src/cli/trust/given_fingerprints.ts'
import { identityFingerprint } from '../../src/sigchain/index.ts'

function publicHalf(kind: 'ed25519' | 'x25519'): string {
  const { publicKey } = kind === 'ed25519' ? generateKeyPairSync(kind) : generateKeyPairSync(kind)
  const der = publicKey.export({ format: 'der', type: 'spki' })
  return der.subarray(-32).toString('base64')
}

const personNamed = (email: string, isSigning = true) => ({
  email,
  signing_key: isSigning ? publicHalf('ed25519') : null,
  public_key: publicHalf('x25519'),
  key_proof: null,
})
const [bob, eve, old] = [
  personNamed('bob@example.com'),
  personNamed('Eve=1@example.com'),
  personNamed('old@example.com', false),
]
const [bobs, eves, olds] = (await Promise.all([bob, eve, old].map(identityFingerprint))) as [
  string,
  string,
  string,
]
const outcomeOf = async (people: (typeof bob)[], given: string[] | undefined) => {
  try {
    return [...(await compareFingerprints(people, given))]
  } catch (error) {
    return error instanceof CliError ? [error.code, error.hint ?? ''] : [String(error)]
  }
}
const BOB = 'bob@example.com'
const EVE = 'Eve=1@example.com'
const NEW_FORM = expect.stringContaining('--fingerprint ADDRESS=FINGERPRINT')
const ASK = expect.stringContaining('whoami')

describe('a given fingerprint', () => {
  test.each<[string, (typeof bob)[], string[] | undefined, string[]]>([
    ['for an address', [bob, eve], [`${BOB}=${bobs}`, `${EVE}=${eves}`], [BOB, EVE.toLowerCase()]],
    ['for one of two people', [bob, eve], [`${EVE}=${eves}`], [EVE.toLowerCase()]],
    ['in any form', [bob], [`BOB@Example.com=${bobs.toUpperCase().replaceAll(' ', '-')}`], [BOB]],
    ['alone for one person', [bob], [bobs], [BOB]],
    ['of an account without a signing key', [old], [olds], ['old@example.com']],
    ['that is absent', [bob, eve], undefined, []],
  ])('a fingerprint %s is compared', async (_, people, given, compared) => {
    expect(await outcomeOf(people, given)).toEqual(compared)
  })

  test.each<[string, (typeof bob)[], string[], [string, unknown]]>([
    ['of another person', [bob], [eves], ['unproven_key', ASK]],
    ['of another person by address', [bob], [`${BOB}=${eves}`], ['unproven_key', ASK]],
    [
      'swapped with another',
      [bob, eve],
      [`${BOB}=${eves}`, `${EVE}=${bobs}`],
      ['unproven_key', ASK],
    ],
    ['in the midst of a longer text', [bob], [`${BOB}=${eves}${bobs}`], ['unproven_key', ASK]],
    ['that is empty', [bob], [''], ['unproven_key', ASK]],
    ['that is cut', [bob], [bobs.slice(0, -1)], ['unproven_key', ASK]],
    ['that the shell split', [bob], `${BOB}=${bobs}`.split(' '), ['unproven_key', ASK]],
    ['alone that the shell split', [bob], bobs.split(' '), ['unproven_key', ASK]],
    ['alone for two people', [bob, eve], [bobs], ['usage', NEW_FORM]],
    ['alone for each of two people', [bob, eve], [bobs, eves], ['usage', NEW_FORM]],
    ['for an uninvited person', [bob], [`${EVE}=${eves}`], ['usage', NEW_FORM]],
    ['twice for one person', [bob], [`${BOB}=${bobs}`, `${BOB}=${bobs}`], ['usage', NEW_FORM]],
    ['in a second place for one person', [bob], [bobs, eves], ['usage', NEW_FORM]],
  ])('a fingerprint %s is rejected', async (_, people, given, refusal) => {
    expect(await outcomeOf(people, given)).toEqual(refusal as string[])
  })
})
