/** Everything that the screen opens over the matrix, as far as the person's role allows it. */
import {
  ArrowLeftRight,
  FolderPlus,
  FolderX,
  Layers,
  Plus,
  Trash2,
  Undo2,
  Upload,
} from 'lucide-react'
import { useMemo } from 'react'
import { usePaletteCommands } from '../../frame/palette_state.ts'
import { texts } from '../../texts/index.ts'
import { useGo, useMayHere } from './place.ts'

const words = texts.matrix

/** `id` is the `pane` of the address. */
export function useCommands() {
  const go = useGo()
  const [writes, makes] = [useMayHere('secret.write'), useMayHere('project.write')]
  const deletes = useMayHere('project.delete')
  const commands = useMemo(() => {
    const make = (id: string, label: string, icon: typeof Plus, isDanger = false) => ({
      id,
      label,
      icon,
      isDanger,
      act: () => go({ pane: id, key: undefined }),
    })
    return {
      writing: writes ? [make('new', words.add, Plus), make('import', words.import, Upload)] : [],
      more: [
        make('compare', words.compare, ArrowLeftRight),
        make('deleted', words.deleted, Undo2),
        ...(makes
          ? [
              make('environment', words.newEnvironment, Layers),
              make('project', words.newProject, FolderPlus),
            ]
          : []),
        ...(deletes
          ? [
              make('delete-environment', texts.removing.environment, Trash2, true),
              make('delete-project', texts.removing.project, FolderX, true),
            ]
          : []),
      ],
    }
  }, [go, writes, makes, deletes])
  usePaletteCommands(useMemo(() => [...commands.writing, ...commands.more], [commands]))
  return commands
}
