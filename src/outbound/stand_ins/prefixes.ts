/**
 * Prefixes that vendors give to all of their keys: they are public, and tools check them. Text that accidentally begins
 * with one does not count: the rest must have the form of the vendor's keys.
 */

export type KnownPrefix = {
  prefix: string
  /** The separators that divide the rest into runs. */
  separator?: string
  /** Whether the last six characters of the rest are the checksum of those before. */
  hasChecksum?: true
}

const RANDOM = /^[A-Za-z0-9_+/=-]{16,}$/

/** Followed only by random characters. */
const usual = words(`
  sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ whsec_
  github_pat_ glpat- gldt- glrt- glptt- glft- glsoat- glcbt- glimt- glagent-
  sk-ant-api03- sk-ant-admin01- sk-ant-oat01- sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk- hf_ gsk_ r8_
  pplx- xai- tvly- nvapi- lsv2_pt_ lsv2_sk_ pcsk_ GOCSPX- ya29. shpat_ shpca_ shppa_ shpss_ shpua_ sq0atp-
  sq0csp- rzp_live_ rzp_test_ access-production- access-sandbox- hvs. hvb. hvr. dp.pt. dp.st. dp.ct. dp.sa.
  dop_v1_ doo_v1_ dor_v1_ dckr_pat_ dckr_oat_ sbp_ sb_secret_ nfp_ vercel_ rnd_ tfp_ pscale_tkn_ pscale_pw_
  pscale_oauth_ PMAK- NRAK- NRII- napi_ sntrys_ sntryu_ phc_ phx_ lin_api_ lin_oauth_ ntn_ figd_ pypi-
  rubygems_ xkeysib-`)

/** Prefixes that could begin any text, with the form of the rest. */
const fitted: Record<string, RegExp> = {
  AKIA: /^[A-Z2-7]{16}$/,
  ASIA: /^[A-Z2-7]{16}$/,
  AIza: /^[\w-]{35}$/,
  EAAA: /^[\w-]{60}$/,
  dapi: /^[0-9a-f]{32}$/,
  'key-': /^[0-9a-f]{32}$/,
  re_: /^[A-Za-z0-9]{8}_[A-Za-z0-9]{24}$/,
  secret_: /^[A-Za-z0-9]{43}$/,
}

const parted: Record<string, [separator: string, rest: RegExp]> = {
  'xoxb-': ['-', /^(\w+-){2}\w{16,}$/],
  'xoxp-': ['-', /^(\w+-){3}\w{16,}$/],
  'xapp-': ['-', /^(\w+-){3}\w{16,}$/],
  'SG.': ['.', /^[\w-]{22}\.[\w-]{43}$/],
  glsa_: ['_', /^[A-Za-z0-9]{32}_[0-9a-f]{8}$/],
  pat: ['.', /^[A-Za-z0-9]{14}\.[0-9a-f]{64}$/],
}

const checked = words('ghp_ gho_ ghu_ ghs_ ghr_ npm_')
const CHECKED = /^[A-Za-z0-9]{36}$/

const known: readonly (KnownPrefix & { rest: RegExp })[] = [
  ...usual.map((prefix) => ({ prefix, rest: RANDOM })),
  ...checked.map((prefix) => ({ prefix, rest: CHECKED, hasChecksum: true as const })),
  ...Object.entries(fitted).map(([prefix, rest]) => ({ prefix, rest })),
  ...Object.entries(parted).map(([prefix, [separator, rest]]) => ({ prefix, separator, rest })),
].sort((a, b) => b.prefix.length - a.prefix.length)

export function knownPrefixOf(text: string): KnownPrefix | null {
  return (
    known.find(
      ({ prefix, rest }) => text.startsWith(prefix) && rest.test(text.slice(prefix.length)),
    ) ?? null
  )
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
