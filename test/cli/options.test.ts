// tier: quick
/** Options are declared once: what the type says of them is what commander hands to the action. */
import { expect, test } from 'bun:test'
import type { Options } from '../../src/cli/arguments.ts'
import { callOptions, runOptions } from '../../src/cli/catalogue/options.ts'
import { pullOptions, setOptions } from '../../src/cli/catalogue/storing.ts'
import { command, type OptionValues } from '../../src/cli/command.ts'
import { ownProcess } from '../../src/cli/host.ts'
import { runProgram } from '../../src/cli/program.ts'

/** What an action with these options receives for a command line. */
async function received<const O extends Options>(
  options: O,
  line: string,
): Promise<OptionValues<O>> {
  const taken: OptionValues<O>[] = []
  const declared = command({
    usage: 'act [values...]',
    about: 'acts',
    examples: ['act'],
    options,
    action: async () => async (_context, _args, values) => {
      taken.push(values)
      return 0
    },
  })
  expect(await runProgram(ownProcess, ['act', ...line.split(' ')], [], [declared])).toBe(0)
  const [values] = taken
  if (!values) throw new Error('the action was not run')
  return values
}

test('texts, flags and lists', async () => {
  const values: OptionValues<typeof callOptions> = {
    request: 'POST',
    header: ['A:1', 'B:2'],
    data: 'x',
    include: true,
    trace: undefined,
    fail: true,
    output: undefined,
    force: undefined,
    strict: true,
    agent: undefined,
    token: 't',
  }
  expect(
    await received(callOptions, '-X POST -H A:1 --header B:2 -d x -i --fail --token t'),
  ).toEqual(values)
})

test('what is not given is undefined, or the fallback', async () => {
  const set: OptionValues<typeof setOptions> = await received(setOptions, '--from-file a.env')
  expect(set).toEqual({
    mine: undefined,
    fromFile: 'a.env',
    dialect: undefined,
    stdin: undefined,
    policy: undefined,
    references: undefined,
    sensitive: undefined,
    plain: undefined,
    allowEmpty: undefined,
    allowEnv: undefined,
    yes: undefined,
  })
  const pull: OptionValues<typeof pullOptions> = await received(pullOptions, 'x')
  expect(pull).toEqual({
    token: undefined,
    raw: undefined,
    format: undefined,
    dialect: undefined,
    force: undefined,
    yes: undefined,
    allowEmpty: undefined,
  })
})

test('what is on unless it is switched off', async () => {
  const on: OptionValues<typeof runOptions> = await received(runOptions, 'x')
  expect(on).toEqual({
    token: undefined,
    mask: true,
    mine: true,
    allowEnv: undefined,
    watch: undefined,
    watchInterval: undefined,
    grace: undefined,
    fallback: undefined,
    fallbackMaxAge: undefined,
    allowEmpty: undefined,
  })
  expect((await received(runOptions, '--no-mask')).mask).toBe(false)
})
