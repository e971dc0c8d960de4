/** Where a person comes in: their workspaces. */
import { texts } from '../../texts/index.ts'

export function Workspaces() {
  return <h1>{texts.workspaces.title}</h1>
}
