"""Decodes a clip with FFmpeg's libraries, which know nothing of ours, and compares what it finds.

    pip install av==18.1.0
    python check_video.py FILE WIDTH HEIGHT FRAMES [FPS]

Exit code 0 if the clip has this size, this number of frames, evenly spaced, and pictures in them; 1 otherwise.
"""

import sys

import av


def problems(path, width, height, frames, fps):
    with av.open(path) as container:
        if len(container.streams.video) != 1:
            yield f"{len(container.streams.video)} video streams instead of 1"
            return
        stream = container.streams.video[0]
        times, still, last = [], 0, None
        for frame in container.decode(stream):
            times.append(frame.time)
            if (frame.width, frame.height) != (width, height):
                yield f"frame {len(times) - 1} has {frame.width} x {frame.height} pixels instead of {width} x {height}"
                return
            pixels = frame.to_ndarray(format="rgb24")
            if pixels.min() == pixels.max():
                still += 1
            last = pixels
        print(
            f"{path}: {stream.codec_context.name}, {stream.codec_context.pix_fmt}, "
            f"{float(stream.average_rate):g} frames a second, {len(times)} frames, "
            f"mean colour of the last {[round(float(c), 1) for c in last.mean(axis=(0, 1))] if times else None}"
        )
        if len(times) != frames:
            yield f"{len(times)} frames instead of {frames}"
        if still:
            yield f"{still} frames of a single colour"
        if fps is not None and abs(float(stream.average_rate) / fps - 1) > 1e-3:
            yield f"{float(stream.average_rate)} frames a second instead of {fps}"
        steps = [b - a for a, b in zip(times, times[1:])]
        if steps and max(steps) - min(steps) > 2e-3:
            yield f"frames {min(steps)} s to {max(steps)} s apart"


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    path, (width, height, frames) = sys.argv[1], map(int, sys.argv[2:5])
    found = list(problems(path, width, height, frames, float(sys.argv[5]) if len(sys.argv) == 6 else None))
    for problem in found:
        print(f"{path}: {problem}", file=sys.stderr)
    sys.exit(1 if found else 0)


main()
