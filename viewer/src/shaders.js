// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// All shading of the page. Colours are sRGB from end to end: what the legend shows is what a lit particle has.

// Particles as lit balls. A coordinate is a part of the frame's box, a value a part of its range; 65535 is "no value".
export const pointsVertex = `
  attribute float value;
  uniform vec3 boxMin, boxSize;
  uniform float low, high, rangeLow, rangeHigh, radius, pixels, smallest;
  varying float shade;
  varying float known;
  varying float size;
  void main() {
    vec4 seen = modelViewMatrix * vec4(boxMin + position * boxSize, 1.0);
    gl_Position = projectionMatrix * seen;
    size = max(2.0 * radius * pixels / -seen.z, smallest);
    gl_PointSize = size;
    float code = value * 65535.0;
    known = code < 65534.5 ? 1.0 : 0.0;
    float number = low + code / 65534.0 * (high - low);
    shade = rangeHigh > rangeLow ? clamp((number - rangeLow) / (rangeHigh - rangeLow), 0.0, 1.0) : 0.0;
  }`;

export const pointsFragment = `
  uniform sampler2D map;
  uniform vec3 unknown;
  varying float shade;
  varying float known;
  varying float size;
  void main() {
    vec2 at = 2.0 * gl_PointCoord - 1.0;
    float r = dot(at, at);
    if (size > 2.5 && r > 1.0) discard;
    vec3 color = known > 0.5 ? texture2D(map, vec2((shade * 255.0 + 0.5) / 256.0, 0.5)).rgb : unknown;
    if (size > 2.5) {
      vec3 n = vec3(at.x, -at.y, sqrt(max(1.0 - r, 0.0)));
      float light = 0.5 + 0.5 * dot(n, normalize(vec3(-0.35, 0.75, 0.6)));
      color *= 0.62 + 0.42 * light;
      float gloss = max(dot(n, normalize(vec3(-0.2, 0.5, 1.0))), 0.0);
      color += 0.10 * pow(gloss, 24.0);
    }
    gl_FragColor = vec4(color, 1.0);
  }`;

export const meshVertex = `
  varying vec3 n;
  varying vec3 at;
  void main() {
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    n = normalMatrix * normal;
    at = seen.xyz;
    gl_Position = projectionMatrix * seen;
  }`;

// Solids: matte, half of the light wraps around.
export const matteFragment = `
  uniform vec3 color;
  uniform float opacity;
  varying vec3 n;
  varying vec3 at;
  void main() {
    vec3 m = normalize(gl_FrontFacing ? n : -n);
    float light = 0.5 + 0.5 * dot(m, normalize(vec3(-0.35, 0.75, 0.6)));
    float sky = 0.5 + 0.5 * m.y;
    gl_FragColor = vec4(color * (0.50 + 0.42 * light * light + 0.14 * sky), opacity);
  }`;

// The surface: a body colour, a bright rim as water has at a grazing angle (Schlick's form of Fresnel), two highlights.
export const surfaceFragment = `
  uniform vec3 body, rim;
  uniform float opacity;
  varying vec3 n;
  varying vec3 at;
  void main() {
    vec3 m = normalize(gl_FrontFacing ? n : -n), eye = normalize(-at);
    vec3 sun = normalize(vec3(-0.35, 0.75, 0.6));
    float light = 0.5 + 0.5 * dot(m, sun);
    float facing = clamp(dot(m, eye), 0.0, 1.0);
    float fresnel = 0.02 + 0.98 * pow(1.0 - facing, 5.0);
    vec3 back = reflect(-eye, m);
    float sky = smoothstep(-0.2, 0.9, back.y);
    vec3 color = body * (0.34 + 0.66 * light * light) + 0.16 * rim * sky * sky;
    color = mix(color, rim * (0.72 + 0.28 * sky), 0.9 * fresnel);
    color += 0.55 * pow(max(dot(m, normalize(sun + eye)), 0.0), 120.0) + 0.10 * pow(max(dot(m, normalize(sun + eye)), 0.0), 14.0);
    gl_FragColor = vec4(color, clamp(opacity + 0.5 * fresnel * (1.0 - opacity), 0.0, 1.0));
  }`;

export const screenVertex = `
  varying vec2 uvAt;
  void main() {
    uvAt = uv;
    gl_Position = vec4(position.xy, 0.0, 1.0);
  }`;

// Depth made visible: a pixel is darkened by how far its neighbours stand in front of it (C. Boucheny, "Visualisation scientifique de
// grands volumes de données", thesis, Grenoble 2009: eye-dome lighting). On a logarithm of depth, so that it looks the same from near and far.
export const depthFragment = `
  uniform sampler2D picture, depths;
  uniform vec2 texel;
  uniform float near, far, strength;
  varying vec2 uvAt;
  float depthAt(vec2 where) {
    float z = texture2D(depths, where).x;
    if (z >= 1.0) return 1e3;
    return log2(near * far / (far - z * (far - near)));
  }
  void main() {
    vec4 color = texture2D(picture, uvAt);
    float here = depthAt(uvAt);
    if (strength > 0.0 && here < 1e3) {
      float sum = 0.0;
      for (int ring = 1; ring <= 2; ring++)
        for (int k = 0; k < 8; k++) {
          float angle = 0.785398 * (float(k) + 0.5 * float(ring - 1));
          float there = depthAt(uvAt + texel * (ring == 1 ? 1.2 : 3.2) * vec2(cos(angle), sin(angle)));
          sum += min(max(here - there, 0.0), 0.06) / float(ring);
        }
      color.rgb *= exp(-strength * sum);
    }
    gl_FragColor = color;
  }`;

// The ground of the picture: a soft gradient from top to bottom.
export const backFragment = `
  uniform vec3 top, bottom;
  varying vec2 uvAt;
  void main() {
    float t = smoothstep(0.0, 1.0, uvAt.y);
    float grain = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) / 255.0;
    gl_FragColor = vec4(mix(bottom, top, t) + grain - 0.5 / 255.0, 1.0);
  }`;
