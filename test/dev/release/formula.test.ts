// tier: all
/** The Homebrew formula: Ruby, with the hash of each file beside its address. */
import { expect, test } from 'bun:test'
import { formulaOf } from '../../../src/dev/release/formula.ts'
import { publishedOf, TARGETS } from '../../../src/dev/release/targets.ts'
import { requires } from '../../support/requires.ts'

const URL = 'https://releases.example.com/v1'
const sums = Object.fromEntries(
  TARGETS.map((target, index) => [publishedOf(target), String(index).repeat(64)]),
)

/** A formula is a class of Homebrew's; this class replaces it and prints the declarations of the formula. */
const HOMEBREW = `
class Formula
  def self.method_missing(name, *args)
    puts [name, *args].join(' ')
    yield if block_given?
  end
  def self.test = puts('test')
end
`

requires('ruby').test(
  'Ruby takes it, and reads for each machine the address and hash of its file',
  async () => {
    const formula = formulaOf(sums, URL) ?? ''
    const input = new Response(`${HOMEBREW}${formula}`)
    const declared = await Bun.$`ruby -W - < ${input}`.quiet()
    const lines = declared.stdout.toString().trimEnd().split('\n')
    expect(lines.slice(lines.indexOf('on_macos'))).toEqual([
      ...['on_macos', 'on_arm', `url ${URL}/cloakroom-darwin-arm64.gz`, `sha256 ${'4'.repeat(64)}`],
      ...['on_intel', `url ${URL}/cloakroom-darwin-x64.gz`, `sha256 ${'5'.repeat(64)}`],
      ...['on_linux', 'on_arm', `url ${URL}/cloakroom-linux-arm64.gz`, `sha256 ${'2'.repeat(64)}`],
      ...['on_intel', `url ${URL}/cloakroom-linux-x64.gz`, `sha256 ${'0'.repeat(64)}`],
      'test',
    ])
    expect(declared.stderr.toString()).toBe('')
  },
)

test('no formula is made if one of its files is missing', () => {
  const { 'cloakroom-darwin-x64.gz': _, ...rest } = sums
  expect(formulaOf(rest, URL)).toBeNull()
})
