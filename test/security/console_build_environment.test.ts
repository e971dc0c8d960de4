// tier: quick
import { expect, spyOn, test } from 'bun:test'
import { buildOnDemand } from '../../src/console/build_on_demand.ts'

test("a build of the console from source does not receive the server's keys", async () => {
  process.env.SECRET_KEY = 'the server has this key in its environment'
  const nothing = () => new Blob([]).stream()
  const ended = {
    ...{ stdout: nothing(), stderr: nothing(), exited: Promise.resolve(0) },
    ...{ kill: () => {}, unref: () => {} },
  }
  const spawn = spyOn(Bun, 'spawn').mockReturnValue(ended as never)
  try {
    await buildOnDemand('console')
    const [[, options] = []] = spawn.mock.calls as unknown as [[string[], { env: object }]]
    expect(Object.keys(options?.env ?? process.env).sort()).toEqual(['HOME', 'PATH'])
  } finally {
    spawn.mockRestore()
    delete process.env.SECRET_KEY
  }
})
