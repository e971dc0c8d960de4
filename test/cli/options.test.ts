// tier: quick
/** A command is declared once: the types of its arguments and options match what its action receives. */
import { expect, test } from 'bun:test'
import type { Options } from '../../src/cli/arguments.ts'
import { command, type OptionValues } from '../../src/cli/command.ts'
import { ownProcess } from '../../src/cli/host.ts'
import { runProgram } from '../../src/cli/program.ts'

/** The option values that an action receives for a command line. */
async function received<const O extends Options>(
  options: O,
  line: string,
): Promise<OptionValues<O>> {
  const taken: OptionValues<O>[] = []
  const declared = command({
    usage: 'act [values...]',
    examples: ['act'],
    options,
    action: async (_context, _args, values) => {
      taken.push(values)
    },
  })
  expect(
    await runProgram(ownProcess, ['act', ...line.split(' ')], [{ ...declared, about: 'acts' }]),
  ).toBe(0)
  const [values] = taken
  if (!values) throw new Error('the action was not run')
  return values
}

const options = [
  ['-X, --request <method>', 'a text'],
  ['-H, --header <line...>', 'a list'],
  ['--from-file <path>', 'a text whose name has two words'],
  ['-i, --include', 'a flag'],
  ['--no-strict', 'on unless it is switched off'],
  ['--port <number>', 'a text with a default', '8443'],
] as const

test('an action receives texts, flags and lists', async () => {
  const values: OptionValues<typeof options> = {
    request: 'POST',
    header: ['A:1', 'B:2'],
    fromFile: 'a.env',
    include: true,
    strict: false,
    port: '9443',
  }
  const line = '-X POST -H A:1 --header B:2 --from-file a.env -i --no-strict --port 9443'
  expect(await received(options, line)).toEqual(values)
})

test('an option that is not given is undefined, on, or its default', async () => {
  const values: OptionValues<typeof options> = {
    request: undefined,
    header: undefined,
    fromFile: undefined,
    include: undefined,
    strict: true,
    port: '8443',
  }
  expect(await received(options, 'x')).toEqual(values)
})

test('an action receives its arguments by the usage', async () => {
  const taken: [string, string?, ...string[]][] = []
  const rename = command({
    usage: 'rename <project> [name]',
    examples: ['rename'],
    action: async (_context, [project, name]) => {
      taken.push(name === undefined ? [project] : [project, name])
    },
  })
  const remove = command({
    usage: 'delete <keys...>',
    examples: ['delete'],
    action: async (_context, [first, ...others]) => {
      taken.push([first, ...others])
    },
  })
  const commands = [rename, remove].map((declared) => ({ ...declared, about: 'acts' }))
  for (const line of ['rename shop', 'rename shop store', 'delete A B C'])
    expect(await runProgram(ownProcess, line.split(' '), commands)).toBe(0)
  expect(taken).toEqual([['shop'], ['shop', 'store'], ['A', 'B', 'C']])
})
