// tier: quick
/** Every `cloakroom` command line in the shell blocks of the documents is one that the program accepts. */
import { expect, test } from 'bun:test'
import { commandLinesIn, faultOf } from '../support/command_lines.ts'
import { documents } from './documents.ts'

const BLOCK = /^( *)```sh[^\n]*\n([\s\S]*?)^\1```/gm

test('every command line in a shell block names a command and options that exist, with all arguments', () => {
  const lines = documents.flatMap(({ path, text }) =>
    [...text.matchAll(BLOCK)].flatMap(([, , script = '']) =>
      commandLinesIn(script).map((words) => ({ path, words })),
    ),
  )
  expect(lines.length).toBeGreaterThan(100)
  const faults = lines.flatMap(({ path, words }) => {
    const fault = faultOf(words)
    return fault === null ? [] : [`${path}: cloakroom ${words.join(' ')}: ${fault}`]
  })
  expect(faults).toEqual([])
})

test('the check finds unknown commands and options, missing values and missing or additional arguments', () => {
  const faults = [
    'cloakroom frobnicate',
    'cloakroom secrets frobnicate',
    'cloakroom secrets set A=1 --frobnicate',
    'cloakroom secrets set A=1 --from-file',
    'cloakroom login',
    'cloakroom login a@example.com b@example.com',
    'A=1 cloakroom frobnicate | cat',
    'echo "$(cloakroom secrets gett A)"',
    'true && cloakroom --frobnicate status',
    'docker exec vault cloakroom doctor --frobnicate',
  ]
  for (const script of faults) {
    const [words = []] = commandLinesIn(script)
    expect({ script, fault: faultOf(words) }).toEqual({ script, fault: expect.any(String) })
  }
})

test('the check accepts quotes, pipes, redirections, comments, here-documents and programs that follow', () => {
  const script = `
    # cloakroom frobnicate
    export A=b; cloakroom login 'ada@example.com' --json 2>/dev/null > out.json
    cloakroom secrets set NAME="a b # c" \\
      -e production
    cloakroom run -- sh -c 'cloakroom frobnicate' --frobnicate
    cloakroom secrets push - <<'END'
cloakroom frobnicate
END
    kubectl exec deploy/cloakroom -- cloakroom health
    docker compose logs cloakroom
    cloakroom --version && cloakroom secrets --help`
  const lines = commandLinesIn(script)
  expect(lines.map(faultOf)).toEqual(lines.map(() => null))
  expect(lines.map(([first]) => first)).toEqual([
    ...['login', 'secrets', 'run', 'secrets', 'health', '--version', 'secrets'],
  ])
})
