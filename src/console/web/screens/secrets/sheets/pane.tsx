/** A sheet that the address opens; closing it changes the address. */
import type { ReactNode } from 'react'
import { Sheet } from '../../../parts/overlays/sheet.tsx'
import { useGo } from '../place.ts'

type Props = { title: string; width?: 420 | 560; footer?: ReactNode; children: ReactNode }

export function Pane(props: Props) {
  const go = useGo()
  return <Sheet {...props} isOpen onClose={() => go({ pane: undefined })} />
}
