/**
 * Whether a value is obviously a setting and not secret: masking `true` or `8080` would make output unreadable. In
 * doubt, returns false. A setting that is kept as a secret is a nuisance; a secret that is kept as a setting is
 * printed.
 */
import { parseAddress } from '../../core/net/cidr.ts'

const MAX_LENGTH = 200

/** Parts of names, anywhere in them, that go with secrets or with what identifies people. */
const SECRETIVE =
  /KEY|SECRET|TOKEN|PASS|PWD|AUTH|CRED|PRIVATE|SIGN|SALT|HASH|PEPPER|CERT|CODE|SEED|NONCE|SESSION|COOKIE|JWT|DSN|HOOK|LICEN[CS]E|BEARER|PHRASE|MNEMONIC|CRYPT|CIPHER|ACCOUNT|INVITE|RECOVER|LOCK|PHONE|IBAN|CARD/
/** Words that are too short to match inside of others. */
const SECRETIVE_WORDS = new Set(
  'PIN PINS OTP TOTP MFA PW SID UID IV PK SK PAT CVV CVC SSN TAN PUK PGP GPG SSH RSA'.split(' '),
)

/** Values that are obviously settings, independent of their name. */
const WORDS = new Set(
  `true false yes no on off enabled disabled enable disable none null undefined auto default
   trace debug verbose info notice warn warning error err crit critical fatal alert emerg emergency silent
   production prod development dev staging stage test testing qa uat ci local preview sandbox demo live`
    .trim()
    .split(/\s+/),
)

const NUMBER = /^-?\d{1,5}(\.\d{1,5})?$/
const MEASURE = /^\d{1,5}(\.\d{1,3})?(ms|s|m|h|d|w|b|kb?|mb?|gb?|tb?|kib|mib|gib|%)$/i
/** More digits than a port has could be a code, unless the name says what is counted. */
const LARGE_NUMBER = /^\d{6,15}$/
const COUNTED = new Set(
  `TIMEOUT TTL MS MILLIS MILLISECONDS SEC SECS SECONDS MINUTES HOURS DAYS AGE INTERVAL DELAY PERIOD DURATION
   LIMIT MAX MIN SIZE BYTES LENGTH COUNT CAPACITY THRESHOLD BUFFER MEMORY RATE QUOTA`
    .trim()
    .split(/\s+/),
)

/** Names that say that a host follows. */
const HOST_WORDS = new Set(
  `HOST HOSTS HOSTNAME SERVER SERVERS DOMAIN DOMAINS ADDR ADDRESS ENDPOINT URL URI ORIGIN BROKER BROKERS
   NODE NODES PEER PEERS SITE FQDN REGISTRY UPSTREAM BIND LISTEN`
    .trim()
    .split(/\s+/),
)
/** Endings that make a host name of a text under any name. */
const HOST_ENDINGS = new Set(
  'com net org io dev app cloud eu internal local localdomain localhost lan example test invalid svc'.split(
    ' ',
  ),
)

export function isObviousSetting(name: string, value: string): boolean {
  if (value.length > MAX_LENGTH || isSecretive(name)) return false
  if (WORDS.has(value.toLowerCase()) || NUMBER.test(value) || MEASURE.test(value)) return true
  if (LARGE_NUMBER.test(value)) return wordsOf(name).some((word) => COUNTED.has(word))
  return isAddress(value) || isUrl(value) || isHost(name, value)
}

function isSecretive(name: string): boolean {
  return (
    SECRETIVE.test(name.toUpperCase()) || wordsOf(name).some((word) => SECRETIVE_WORDS.has(word))
  )
}

/** `maxAgeMs2` and `MAX_AGE_MS_2` have the same words. */
function wordsOf(name: string): string[] {
  const separated = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/\d+/g, '_')
  return separated.toUpperCase().split('_')
}

/** An IP address, also with a port. All eight groups of an IPv6 address could as well be a key in hexadecimal. */
function isAddress(value: string): boolean {
  const [, inner = value] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(value) ?? []
  const bare = /^[\d.]+:\d{1,5}$/.test(value) ? value.replace(/:\d+$/, '') : inner
  return (bare.includes('.') || bare.includes('::')) && parseAddress(bare) !== null
}

/** A host, or several, each also with a port. */
function isHost(name: string, value: string): boolean {
  const isNamed = wordsOf(name).some((word) => HOST_WORDS.has(word))
  return value.split(',').every((part) => {
    const host = part.replace(/:\d{1,5}$/, '')
    const ending = host.split('.').at(-1) ?? ''
    if (!isHostName(host)) return false
    return isNamed || host === 'localhost' || (host.includes('.') && HOST_ENDINGS.has(ending))
  })
}

/** With a host, and without anything that could carry a secret: user, query, or a path of other than words. */
function isUrl(value: string): boolean {
  const [, host = '', path = ''] =
    /^[a-z][a-z0-9+]{1,15}:\/\/([^/?#@\s]+)(\/[^?#@\s]*)?$/.exec(value) ?? []
  const isPlainHost = isAddress(host) || isHostName(host.replace(/:\d{1,5}$/, ''))
  return (
    isPlainHost && path.split('/').every((segment) => segment === '' || isPlainSegment(segment))
  )
}

function isHostName(host: string): boolean {
  const labels = host.split('.')
  return labels.length <= 8 && labels.every((label) => label.split('-').every(isPlainWord))
}

/** Such as `v1`, `2`, `graphql` or `line-items`. */
function isPlainSegment(segment: string): boolean {
  const parts = segment.split(/[-_.]/)
  return parts.length <= 3 && parts.every(isPlainWord)
}

/** A few digits, or a word that can be pronounced with a few digits after it. */
function isPlainWord(word: string): boolean {
  if (/^v?\d{1,3}$/.test(word)) return true
  const [, letters = ''] = /^([a-z]{1,14})\d{0,2}$/.exec(word) ?? []
  if (letters === '') return false
  return letters.length <= 4 || (/[aeiouy]/.test(letters) && !/[^aeiouy]{5}/.test(letters))
}
