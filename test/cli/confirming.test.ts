// tier: quick
/** Every command that asks for confirmation, and every count in a text. */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { askUntilValid } from '../../src/cli/terminal/prompts.ts'
import { groups, topLevel } from './every_command.ts'

const CLI = join(import.meta.dir, '../../src/cli')
const files = readdirSync(CLI, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
)
const linesOf = (file: string) => readFileSync(join(CLI, file), 'utf8').split('\n')

test('every command that deletes, removes, revokes or ends something has --yes', () => {
  const verbs = /^(delete|remove|revoke|end|leave|rekey|rotate-keys|copy)\b/
  const asking = groups.flatMap(({ name, commands }) =>
    commands.flatMap(({ usage, options }) => (verbs.test(usage) ? [{ name, usage, options }] : [])),
  )
  const without = asking.filter(
    ({ options }) => !options.some(([flags]) => flags.includes('--yes')),
  )
  const unasked = ['allowlist remove <domains...>']
  expect(without.map(({ name, usage }) => `${name} ${usage}`)).toEqual(unasked)
  expect(asking.length).toBeGreaterThan(10)
  expect(topLevel.length).toBeGreaterThan(10)
})

test('every number before a noun in a text of the command line is written with counted()', () => {
  const count =
    /\$\{[\w.]*(?:length|size|count|members|tokens|secrets|\w+Count)\} (?:\w+ )?[a-z]+s\b/
  const found = files.flatMap((file) =>
    linesOf(file).flatMap((line) => (count.test(line) ? [`${file}: ${line.trim()}`] : [])),
  )
  // Lists with more than one entry by construction.
  expect(found.filter((line) => !line.includes('characters, SHA-256'))).toEqual([])
})

test('a secret is requested again immediately after an invalid answer, or two different ones', async () => {
  const typed = ['weak', 'strong one', 'strong two', 'strong one', 'strong one']
  const screen: string[] = []
  const ask = async (question: string) => {
    screen.push(question)
    return typed.shift() ?? ''
  }
  const faultOf = (answer: string) => (answer === 'weak' ? 'This is too weak.' : null)
  const printFault = (fault: string) => void screen.push(fault)
  const answer = await askUntilValid(ask, printFault, { message: 'Choose', isNew: true, faultOf })
  expect(answer).toBe('strong one')
  expect(screen).toEqual([
    'Choose',
    'This is too weak.',
    'Choose',
    'Repeat it',
    'The two answers differ. Try again.',
    'Choose',
    'Repeat it',
  ])
})

test('every question for a new secret explains a weak answer and asks again', () => {
  const questions = files.flatMap(
    (file) =>
      linesOf(file)
        .join('\n')
        .match(/askSecret\([^;]*?\}\)/g) ?? [],
  )
  const ofNew = questions.filter((question) => question.includes('isNew'))
  expect(ofNew.length).toBeGreaterThan(1)
  for (const question of ofNew) expect(question).toContain('faultOf')
})
