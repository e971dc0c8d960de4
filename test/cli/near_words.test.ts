// tier: quick
/** A mistyped command or option, walked through every command. */
import { afterAll, expect, test } from 'bun:test'
import type { Spec } from '../../src/cli/command.ts'
import { globalOptions } from '../../src/cli/options.ts'
import { groups, topLevel } from './every_command.ts'
import { openTerminal } from './person.ts'

const nowhere = 'http://127.0.0.1:1'
const ada = await openTerminal({ controlPlane: nowhere, resolver: nowhere })
afterAll(() => ada.remove())

const nameOf = ({ usage }: Spec) => usage.split(' ')[0] ?? ''
const commands = [
  ...topLevel.map((spec) => ({ words: [nameOf(spec)], spec })),
  ...groups.flatMap(({ name, commands }) =>
    commands.map((spec) => ({ words: [name, nameOf(spec)], spec })),
  ),
]
const longOf = (flags: string) => /--[a-z-]+/.exec(flags)?.[0] ?? ''
/** Without its middle letter. */
const mistyped = (word: string) =>
  word.replace(/^(-*)(.*)$/, (_, dashes: string, rest: string) => {
    const middle = Math.floor(rest.length / 2)
    return `${dashes}${rest.slice(0, middle)}${rest.slice(middle + 1)}`
  })

/** `words` are rejected, and `meant` is among the suggestions. */
async function expectSuggested(words: readonly string[], meant: string): Promise<void> {
  const { code, err } = await ada.run(words)
  const [, said = ''] = /\(Did you mean (?:one of )?(.*)\?\)/.exec(err) ?? []
  expect({ words, code, near: said.split(', ') }).toEqual({
    words,
    code: 2,
    near: expect.arrayContaining([meant]),
  })
}

test('every option with a one-letter typo is suggested, including all options of the command', async () => {
  for (const { words, spec } of commands) {
    const own = spec.options.map(([flags]) => longOf(flags))
    for (const option of own.filter((long) => long.length > 5))
      await expectSuggested([...words, mistyped(option)], option)
    await expectSuggested([...words, '--enviroment'], '--env')
  }
})

test('every global option with a one-letter typo is suggested', async () => {
  for (const [flags] of globalOptions) {
    const option = longOf(flags)
    await expectSuggested(['secrets', 'list', mistyped(option)], option)
  }
})

test('every command and every verb in a group with a one-letter typo is suggested', async () => {
  for (const { words } of commands) {
    const [last = ''] = words.slice(-1)
    if (last.length > 3) await expectSuggested([...words.slice(0, -1), mistyped(last)], last)
  }
})

test("another program's word for deleting or creating suggests the group's own word", async () => {
  const families = [
    ['delete', 'remove', 'revoke', 'end', 'rm'],
    ['create', 'add', 'issue', 'new'],
  ]
  for (const { name, commands } of groups) {
    const verbs = commands.map(nameOf)
    for (const family of families) {
      const [own] = family.filter((word) => verbs.includes(word))
      const foreign = family.filter((word) => word !== 'rm' && !verbs.includes(word))
      for (const word of own === undefined ? [] : foreign)
        await expectSuggested([name, word], own ?? '')
    }
  }
})

test('an unknown word without a similar one gets no suggestion', async () => {
  const { err } = await ada.run(['secrets', 'frobnicate'])
  expect(err).toBe(
    "cloakroom: unknown command 'frobnicate' (usage)\n→ run cloakroom secrets --help\n",
  )
})
