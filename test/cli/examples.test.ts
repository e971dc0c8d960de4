// tier: quick
import { expect, test } from 'bun:test'
import { groups, topLevel } from '../../src/cli/catalogue/index.ts'

test('every command has help with examples that begin with its own name', () => {
  const all = [
    ...topLevel.map((spec) => ({ spec, prefix: '' })),
    ...groups.flatMap(({ name, commands }) =>
      commands.map((spec) => ({ spec, prefix: `${name} ` })),
    ),
  ]
  for (const { spec, prefix } of all) {
    const name = `${prefix}${spec.usage.split(' ')[0]}`
    expect({
      name,
      examples: spec.examples.filter((example) => example.startsWith(name)).length,
    }).toEqual({
      name,
      examples: spec.examples.length,
    })
    expect(spec.examples.length).toBeGreaterThan(0)
  }
})
