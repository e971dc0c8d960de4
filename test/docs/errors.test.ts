// tier: quick
import { expect, test } from 'bun:test'
import { CliError, type CliErrorCode, cliErrors } from '../../src/cli/terminal/cli_error.ts'
import { errorText, explain } from '../../src/cli/terminal/explain.ts'
import { faultCodes } from '../../src/core/fault.ts'
import { textOf } from './documents.ts'

test('every error code has one row with its cause and fix, and no other code has one', () => {
  const rows = [...textOf('docs/reference/errors.md').matchAll(/^\| `(\w+)` \| (.+) \| (.+) \|$/gm)]
  const codes = new Set<string>([...faultCodes, ...Object.keys(cliErrors)])
  expect(rows.map(([, code]) => code).sort()).toEqual([...codes].sort())
})

test('the command line prints each of its codes after the first line of the message', () => {
  const own = Object.keys(cliErrors) as CliErrorCode[]
  const withoutCode = own.filter((code) => {
    const error = new CliError(code, ['it did not work', 'neither did this'], 'run the next thing')
    const expected = `cloakroom: it did not work (${code})\nneither did this\n→ run the next thing\n`
    return errorText(explain(error), false) !== expected
  })
  // These two say no more than the message.
  expect(withoutCode).toEqual(['failed', 'cancelled'])
})
