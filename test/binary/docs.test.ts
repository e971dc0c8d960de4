// tier: all
/** The documentation inside the executable: in the terminal and from its server, in an empty directory. */
import { expect, test } from 'bun:test'
import { openDocs } from '../../src/console/docs/serve.ts'
import { ensureDocs } from '../../src/dev/docs/index.ts'
import { runProgram, startProgram } from './executable.ts'

const AGENTS = new URL('../../docs/guides/agents.md', import.meta.url)

test('the executable prints and serves the same pages as the source, without any file beside it', async () => {
  await ensureDocs()
  const { code, stdout } = await runProgram({ args: ['help', 'agents', '--json'] })
  expect(code).toBe(0)
  expect(JSON.parse(stdout).text).toBe(await Bun.file(AGENTS).text())
  const { respond } = await openDocs()
  const program = await startProgram({})
  for (const path of ['/docs/', '/docs/guides/agents', '/docs/guides/agents.md', '/llms.txt']) {
    const answer = await fetch(`${program.controlPlane}${path}`)
    const own = respond(new Request(`http://localhost${path}`))
    expect({ path, status: answer.status }).toEqual({ path, status: 200 })
    expect(answer.headers.get('etag')).toBe(own.headers.get('etag'))
    expect(await answer.text()).toBe(await own.text())
  }
  program.signal('SIGTERM')
  expect((await program.ended).code).toBe(0)
})
