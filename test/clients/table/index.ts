/** All measured clients. */
import type { Client } from '../client.ts'
import { commandLine } from './command_line.ts'
import { go } from './go.ts'
import { java } from './java.ts'
import { node } from './node.ts'
import { python } from './python.ts'
import { rust } from './rust.ts'
import { scripting } from './scripting.ts'

export const clients: readonly Client[] = [
  ...commandLine,
  ...node,
  ...python,
  ...go,
  ...java,
  ...rust,
  ...scripting,
]
