// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The picture: particles, surface, solids, ground grid, camera. Draws only when something changed.
import {
  BackSide, Box3, BufferAttribute, BufferGeometry, Color, ColorManagement, DataTexture, DepthTexture, DoubleSide, EdgesGeometry, Group,
  InterleavedBuffer, InterleavedBufferAttribute, LinearFilter, LinearSRGBColorSpace, LineBasicMaterial, LineSegments, Matrix4, Mesh,
  MOUSE, NearestFilter, OrthographicCamera, PerspectiveCamera, PlaneGeometry, Points, Scene, ShaderMaterial, TOUCH, UnsignedIntType, Vector2,
  Vector3, WebGLRenderer, WebGLRenderTarget,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import * as shaders from "./shaders.js";
import { colorTable } from "./colors.js";
import { ticks } from "./format.js";

ColorManagement.enabled = false;  // shaders speak sRGB, see shaders.js

const ROLES = { solid: "--solid", container: "--container", emitter: "--emitter", sink: "--sink" };

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, antialias: false, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.renderer.autoClear = false;
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(32, 1, 0.01, 1000);
    this.bounds = new Box3(new Vector3(0, 0, 0), new Vector3(1, 1, 1));  // of the scene
    this.seen = new Box3();  // of all particles shown so far
    this.flat = false;
    this.solids = [];
    this.solidsShown = true;
    this.changed = true;
    this.onmove = () => {};
    this.#makePasses();
    this.#makePoints();
    this.#makeSurface();
    this.#makeControls();
    this.ground = new Group();
    this.scene.add(this.ground);
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => { this.changed = true; });
  }

  // --- parts ---------------------------------------------------------------------------------------------------------

  #makePasses() {
    const full = new PlaneGeometry(2, 2);
    this.screenCamera = new OrthographicCamera(-1, 1, 1, -1, 0, 1);
    this.back = new Mesh(full, new ShaderMaterial({
      vertexShader: shaders.screenVertex, fragmentShader: shaders.backFragment, depthTest: false, depthWrite: false,
      uniforms: { top: { value: new Color() }, bottom: { value: new Color() } },
    }));
    this.target = new WebGLRenderTarget(4, 4, { samples: 4, minFilter: LinearFilter, magFilter: LinearFilter });
    this.target.depthTexture = new DepthTexture(4, 4, UnsignedIntType);
    this.target.depthTexture.minFilter = this.target.depthTexture.magFilter = NearestFilter;
    this.depth = new Mesh(full, new ShaderMaterial({
      vertexShader: shaders.screenVertex, fragmentShader: shaders.depthFragment, depthTest: false, depthWrite: false,
      uniforms: {
        picture: { value: this.target.texture }, depths: { value: this.target.depthTexture }, texel: { value: new Vector2() },
        near: { value: 0.1 }, far: { value: 100 }, strength: { value: 1 },
      },
    }));
    for (const mesh of [this.back, this.depth]) mesh.frustumCulled = false;
    this.depthShading = true;
  }

  #makePoints() {
    this.mapTexture = new DataTexture(colorTable("water"), 256, 1);
    this.mapTexture.minFilter = this.mapTexture.magFilter = LinearFilter;
    this.mapTexture.needsUpdate = true;
    const uniforms = {
      boxMin: new Vector3(), boxSize: new Vector3(1, 1, 1), low: 0, high: 1, rangeLow: 0, rangeHigh: 1, radius: 0.01, pixels: 1, smallest: 1,
      map: this.mapTexture, unknown: new Color(0.6, 0.6, 0.6),
    };
    this.pointsMaterial = new ShaderMaterial({
      vertexShader: shaders.pointsVertex, fragmentShader: shaders.pointsFragment,
      uniforms: Object.fromEntries(Object.entries(uniforms).map(([name, value]) => [name, { value }])),
    });
    this.points = new Points(new BufferGeometry(), this.pointsMaterial);
    this.points.frustumCulled = false;
    this.points.visible = false;
    this.pointScale = 1;
    this.scene.add(this.points);
  }

  #makeSurface() {
    this.surfaceMaterial = new ShaderMaterial({
      vertexShader: shaders.meshVertex, fragmentShader: shaders.surfaceFragment, side: DoubleSide,
      uniforms: { body: { value: new Color() }, rim: { value: new Color() }, opacity: { value: 1 } },
    });
    this.surface = new Mesh(new BufferGeometry(), this.surfaceMaterial);
    this.surface.frustumCulled = false;
    this.surface.visible = false;
    this.surface.renderOrder = 2;
    this.scene.add(this.surface);
  }

  #makeControls() {
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.14;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => { this.changed = true; this.onmove(); });
  }

  // --- what is shown -------------------------------------------------------------------------------------------------

  showPoints(result) {
    if (this.shownPoints === result) return;
    this.shownPoints = result;
    this.changed = true;
    this.points.geometry.dispose();
    if (!result || result.facts.count === 0) {
      this.points.geometry = new BufferGeometry();
      this.points.userData.empty = true;
      return;
    }
    const { facts, data } = result, geometry = new BufferGeometry(), rows = new InterleavedBuffer(data, 4);
    geometry.setAttribute("position", new InterleavedBufferAttribute(rows, 3, 0, true));
    geometry.setAttribute("value", new InterleavedBufferAttribute(rows, 1, 3, true));
    this.points.geometry = geometry;
    this.points.userData.empty = false;
    const u = this.pointsMaterial.uniforms, box = facts.box;
    u.boxMin.value.set(box[0], box[1], box[2]);
    u.boxSize.value.set(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
    [u.low.value, u.high.value] = facts.range;
    this.seen.union(new Box3(new Vector3(box[0], box[1], box[2]), new Vector3(box[3], box[4], box[5])));
    this.#sizePoints();
  }

  // Fewer particles are drawn larger, so that a part of them fills the same volume.
  #sizePoints() {
    const facts = this.shownPoints?.facts;
    if (!facts) return;
    const share = facts.count > 0 ? facts.finite / facts.count : 1;
    const fallback = 0.002 * this.bounds.min.distanceTo(this.bounds.max);
    this.pointsMaterial.uniforms.radius.value = (facts.radius > 0 ? facts.radius : fallback) * this.pointScale * (this.flat ? Math.sqrt(share) : Math.cbrt(share));
    this.changed = true;
  }

  setPointScale(scale) { this.pointScale = scale; this.#sizePoints(); }

  setRange(low, high) {
    const u = this.pointsMaterial.uniforms;
    if (u.rangeLow.value === low && u.rangeHigh.value === high) return;
    u.rangeLow.value = low;
    u.rangeHigh.value = high;
    this.changed = true;
  }

  setMap(name) {
    this.mapTexture.image.data.set(colorTable(name));
    this.mapTexture.needsUpdate = true;
    this.changed = true;
  }

  showSurface(result) {
    if (this.shownSurface === result) return;
    this.shownSurface = result;
    this.changed = true;
    this.surface.geometry.dispose();
    const geometry = new BufferGeometry();
    if (result) {
      geometry.setAttribute("position", new BufferAttribute(result.position, 3));
      geometry.setAttribute("normal", new InterleavedBufferAttribute(new InterleavedBuffer(result.normal, 4), 3, 0, true));
      geometry.setIndex(new BufferAttribute(result.index, 1));
    }
    this.surface.geometry = geometry;
  }

  setSurfaceOpacity(opacity) {
    this.surfaceMaterial.uniforms.opacity.value = opacity;
    this.surfaceMaterial.transparent = opacity < 1;
    this.surfaceMaterial.depthWrite = true;
    this.changed = true;
  }

  setVisible({ points, surface, solids, ground }) {
    this.points.visible = points && !this.points.userData.empty && !!this.shownPoints;
    this.surface.visible = surface && !!this.shownSurface;
    this.ground.visible = ground;
    this.solidsShown = solids;
    for (const solid of this.solids) solid.group.visible = solids;
    this.changed = true;
  }

  // --- solids --------------------------------------------------------------------------------------------------------

  setSolids(message, flat) {
    for (const { group } of this.solids) {
      this.scene.remove(group);
      group.traverse((part) => { part.geometry?.dispose(); part.material?.dispose(); });
    }
    const { facts, data } = message;
    this.flat = flat;
    this.solidsFirst = facts.first;
    const box = facts.bounds;
    this.bounds.min.set(box[0], box[1], box[2]);
    this.bounds.max.set(box[3], box[4], box[5]);
    let at = 0;
    this.solids = facts.solids.map((solid) => {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(new Float32Array(data.buffer, at, 3 * solid.vertices), 3));
      at += 12 * solid.vertices;
      geometry.setIndex(new BufferAttribute(new Uint32Array(data.buffer, at, 3 * solid.triangles), 1));
      at += 12 * solid.triangles;
      const poses = new Float32Array(data.buffer, at, 12 * solid.poses);
      at += 48 * solid.poses;
      geometry.computeVertexNormals();
      const group = this.#dressSolid(geometry, solid);
      group.matrixAutoUpdate = false;
      group.visible = this.solidsShown;
      this.scene.add(group);
      return { ...solid, group, posed: poses };
    });
    this.#makeGround();
    this.#sizePoints();
    this.applyTheme();
  }

  // A container is drawn by its edges and the inner sides behind; what pours and what drains by its edges alone.
  #dressSolid(geometry, solid) {
    const group = new Group(), matte = (side, opacity) => new ShaderMaterial({
      vertexShader: shaders.meshVertex, fragmentShader: shaders.matteFragment, side, transparent: opacity < 1, depthWrite: opacity === 1,
      polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
      uniforms: { color: { value: new Color() }, opacity: { value: opacity } },
    });
    if (solid.vertices === 0) return group;
    if (solid.role === "solid") group.add(new Mesh(geometry, matte(DoubleSide, solid.endless ? 0.35 : 1)));
    if (solid.role === "container" && !this.flat) group.add(new Mesh(geometry, matte(BackSide, 0.16)));
    if (solid.triangles < 200000 && !solid.deforms) {
      const edges = new LineSegments(new EdgesGeometry(geometry, 24), new LineBasicMaterial({ transparent: true, depthWrite: false, opacity: solid.role === "solid" ? 0.5 : 0.85 }));
      edges.renderOrder = 3;
      group.add(edges);
    }
    group.userData.role = solid.role;
    return group;
  }

  poseSolids(frame) {
    for (const { group, posed, poses } of this.solids) {
      const at = 12 * Math.min(poses - 1, Math.max(0, frame - this.solidsFirst));
      const m = posed.subarray(at, at + 12);
      group.matrix.set(...m, 0, 0, 0, 1);
      group.matrixWorldNeedsUpdate = true;
    }
    this.changed = true;
  }

  get deforms() { return this.solids.some((solid) => solid.deforms); }

  // New places of the vertices of solids that change their form.
  deformSolids(message) {
    if (!message || this.shownVertices === message) return;
    this.shownVertices = message;
    let at = 0;
    for (const { index, vertices } of message.facts.solids) {
      const mesh = this.solids[index]?.group.children.find((part) => part.isMesh);
      if (mesh && this.solids[index].vertices === vertices) {
        mesh.geometry.setAttribute("position", new BufferAttribute(new Float32Array(message.data.buffer, at, 3 * vertices), 3));
        mesh.geometry.computeVertexNormals();
      }
      at += 12 * vertices;
    }
    this.changed = true;
  }

  // Lines at round distances under the scene (behind it in two dimensions), a stronger one every fifth.
  #makeGround() {
    this.ground.traverse((part) => { part.geometry?.dispose(); part.material?.dispose(); });
    this.ground.clear();
    const { min, max } = this.bounds, size = new Vector3().subVectors(max, min), span = Math.max(size.x, this.flat ? size.y : size.z);
    const marks = ticks(0, span, 12), step = marks[1] - marks[0] || 1;
    const across = this.flat ? "y" : "z", reach = this.flat ? 0.08 : 0.5;
    const low = (axis) => Math.floor((min[axis] - reach * span) / step), high = (axis) => Math.ceil((max[axis] + reach * span) / step);
    const height = this.flat ? -0.001 * span : min.y - 0.002 * span;
    const weak = [], strong = [];
    const place = (x, other) => (this.flat ? [x, other, height] : [x, height, other]);
    for (let i = low("x"); i <= high("x"); i++)
      (i % 5 ? weak : strong).push(...place(i * step, low(across) * step), ...place(i * step, high(across) * step));
    for (let i = low(across); i <= high(across); i++)
      (i % 5 ? weak : strong).push(...place(low("x") * step, i * step), ...place(high("x") * step, i * step));
    for (const [lines, opacity] of [[weak, 0.35], [strong, 0.8]]) {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(new Float32Array(lines), 3));
      this.ground.add(new LineSegments(geometry, new LineBasicMaterial({ transparent: true, opacity, depthWrite: false })));
    }
    this.gridStep = step;
  }

  // --- camera --------------------------------------------------------------------------------------------------------

  // Direction of view: "home" (front right, from above), "front", "right", "top".
  look(view = "home") {
    const whole = this.bounds.clone().union(this.seen), center = whole.getCenter(new Vector3()), size = whole.getSize(new Vector3());
    this.view = view;
    this.controls.enableDamping = false;  // what is left of a turn must not go on from the new place
    this.controls.update();
    this.controls.enableDamping = true;
    const towards = { home: [0.5, 0.42, 1], front: [0, 0, 1], right: [1, 0, 0], top: [0, 1, 0.0001] }[this.flat ? "front" : view];
    const direction = new Vector3(...towards).normalize();
    this.camera.fov = this.flat ? 12 : 32;
    this.camera.aspect = this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight);
    this.camera.updateProjectionMatrix();
    this.camera.position.copy(center).add(direction);
    this.camera.lookAt(center);
    this.camera.updateMatrixWorld();
    // As near as all eight corners allow.
    const up = Math.tan((this.camera.fov * Math.PI) / 360), side = up * this.camera.aspect;
    const turn = new Matrix4().copy(this.camera.matrixWorld).setPosition(0, 0, 0).transpose();
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const at = new Vector3(corner & 1 ? 0.5 : -0.5, corner & 2 ? 0.5 : -0.5, corner & 4 ? 0.5 : -0.5).multiply(size).applyMatrix4(turn);
      distance = Math.max(distance, at.z + (1.1 * Math.abs(at.x)) / side, at.z + (1.16 * Math.abs(at.y)) / up);
    }
    this.camera.position.copy(center).addScaledVector(direction, distance || 1);
    this.controls.target.copy(center);
    this.controls.enableRotate = !this.flat;
    this.controls.mouseButtons = { LEFT: this.flat ? MOUSE.PAN : MOUSE.ROTATE, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.PAN };
    this.controls.touches = { ONE: this.flat ? TOUCH.PAN : TOUCH.ROTATE, TWO: TOUCH.DOLLY_PAN };
    this.controls.update();
    this.moved = false;
    this.changed = true;
  }

  // --- drawing -------------------------------------------------------------------------------------------------------

  applyTheme() {
    const style = getComputedStyle(document.documentElement), color = (name) => new Color(style.getPropertyValue(name).trim());
    this.back.material.uniforms.top.value = color("--view-top");
    this.back.material.uniforms.bottom.value = color("--view-bottom");
    this.surfaceMaterial.uniforms.body.value = color("--water");
    this.surfaceMaterial.uniforms.rim.value = color("--water-rim");
    for (const part of this.ground.children) part.material.color = color("--grid");
    for (const { group, role } of this.solids)
      group.traverse((part) => {
        if (part.isMesh) part.material.uniforms.color.value = color(ROLES[role]);
        else if (part.isLineSegments) part.material.color = color(role === "solid" ? "--solid-edge" : ROLES[role]);
      });
    this.changed = true;
  }

  resize() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (width === 0 || height === 0) return;
    const ratio = Math.min(window.devicePixelRatio, 2);
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.target.setSize(Math.round(width * ratio), Math.round(height * ratio));
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.changed = true;
  }

  // Near and far planes hug the scene: depth has its finest steps where it is needed.
  #fitPlanes() {
    const distance = this.camera.position.distanceTo(this.controls.target), reach = this.bounds.min.distanceTo(this.bounds.max);
    this.camera.far = distance + 4 * reach;
    this.camera.near = Math.max(this.camera.far / 5000, 0.002 * reach);
    this.camera.updateProjectionMatrix();
  }

  draw() {
    this.#fitPlanes();
    const u = this.depth.material.uniforms, height = this.target.height, ratio = this.renderer.getPixelRatio();
    this.pointsMaterial.uniforms.pixels.value = height / (2 * Math.tan((this.camera.fov * Math.PI) / 360));
    this.pointsMaterial.uniforms.smallest.value = ratio;
    this.renderer.setRenderTarget(this.target);
    this.renderer.clear();
    this.renderer.render(this.back, this.screenCamera);
    this.renderer.render(this.scene, this.camera);
    this.renderer.setRenderTarget(null);
    u.near.value = this.camera.near;
    u.far.value = this.camera.far;
    u.texel.value.set(ratio / this.target.width, ratio / height);
    u.strength.value = !this.depthShading || this.flat ? 0 : this.points.visible ? 3.2 : 1;  // a smooth surface needs less
    this.renderer.render(this.depth, this.screenCamera);
    this.changed = false;
  }

  drawIfChanged() {
    this.controls.update();
    if (!this.changed) return false;
    this.draw();
    return true;
  }
}
